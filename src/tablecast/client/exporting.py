"""An export of a table server, saved as a file: whole, or not at all."""

import http.client
import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

from tablecast.errors import ServerRefused, ServerUnreachable

QUIET_SECONDS = 60.0
"""How long the server may say nothing: a view of a large table has to be built first."""


def export(url: str, key: str, table: str, file: Path, query: Mapping[str, str]) -> int:
    """Saves the table, or the view that `query` says, and returns how many rows it has. The file appears when all of it is there; one of that name is
    replaced then. Raises ServerUnreachable, ServerRefused, OSError for a file that cannot be written."""
    address = f"{url.rstrip('/')}/api/tables/{quote(table, safe='')}/export?{urlencode(query)}"
    part = file.with_name(f".{file.name}.part")
    try:
        with urlopen(Request(address, headers={"authorization": f"Bearer {key}"}), timeout=QUIET_SECONDS) as answer, part.open("wb") as sink:  # noqa: S310
            rows = _rows(url, answer.headers.get("tablecast-rows"))
            shutil.copyfileobj(answer, sink)
        part.replace(file)
    except HTTPError as error:
        raise _refused(url, error) from None
    except (URLError, TimeoutError, ConnectionError, http.client.HTTPException) as error:
        raise ServerUnreachable(url, f"the export broke off: {getattr(error, 'reason', error) or type(error).__name__}") from error
    finally:
        part.unlink(missing_ok=True)
    return rows


def _rows(url: str, told: str | None) -> int:
    """Who does not tell it is no table server: a proxy perhaps, with a page of its own."""
    if told is None or not (told.isascii() and told.isdigit()):
        raise ServerUnreachable(url, "what answers there is no table server")
    return int(told)


def _refused(url: str, error: HTTPError) -> ServerRefused | ServerUnreachable:
    with error, suppress(ValueError, KeyError, TypeError):
        told = json.loads(error.read())["error"]
        return ServerRefused(told["code"], told["message"], told["hint"])
    return ServerUnreachable(url, f"it answered {error.code}, and not as a table server does")
