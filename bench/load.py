"""Catalogues that are measured: the smallest that joins, as the peers were measured on, and the whole default one."""

from collections.abc import Mapping
from dataclasses import dataclass

SMALL = """\
[tables.accounts_ui]
source = "accounts"
keep = "last"
key = "userId"
[tables.final_ui]
join = "left"
left = "users"
right = "accounts"
on = "userId"
keep = "last"
"""


@dataclass(frozen=True)
class Load:
    """`catalogue` is the text of a tablecast.toml; empty, it is the default one."""

    name: str
    catalogue: str
    tables: tuple[str, ...]

    @property
    def keep_last(self) -> bool:
        return bool(self.catalogue)


LOADS: Mapping[str, Load] = {
    load.name: load
    for load in (
        Load("small", SMALL, ("accounts_ui", "final_ui")),
        Load("all", "", ("users_ui", "account", "accounts_ui", "final_ui", "user_account")),
    )
}
