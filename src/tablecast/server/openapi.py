"""The description of the HTTP paths, as OpenAPI 3.1. A test lets schemathesis compare it with what the server does."""

from typing import Any

from tablecast import __version__, errors, login_errors
from tablecast.catalog import NAME
from tablecast.errors import ViewerError
from tablecast.server.export import FORMATS, FORMULAS, MEDIA_TYPES
from tablecast.settings import ServerSettings

Schema = dict[str, Any]

_JSON = "application/json"
_INT64_MAX = 2**63 - 1
_CELL = {"type": ["string", "number", "boolean", "null"]}
_SCALAR = {"type": ["string", "number", "boolean"]}
_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_MAYBE_COUNT: Schema = {"type": ["integer", "null"], "minimum": 0}


def openapi(settings: ServerSettings) -> Schema:
    """Every path, parameter, answer and error, with the limits of these settings."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tablecast",
            "version": __version__,
            "description": "Live tables over HTTP. What changes by itself is at the WebSocket /ws, described in protocol/README.md.",
        },
        "security": [{"key": []}],
        "paths": {
            "/api/tables": {"get": _operation("tables", "All tables", {"200": _json("TableList"), **_errors(503)})},
            "/api/tables/{name}/rows": {"get": _rows(settings)},
            "/api/tables/{name}/export": {"get": _export()},
            "/api/status": {"get": _operation("status", "What is known of the data and of generations", {"200": _json("Status"), **_errors()})},
            "/api/control": {"post": _control(settings)},
            "/api/topics": {"get": _operation("topics", "The topics that a source can have", {"200": _json("TopicList"), **_errors(503)})},
            "/api/openapi.json": {"get": _operation("openapi", "This description", {"200": _answer({"type": "object"}), **_errors()})},
            "/metrics": {"get": _operation("metrics", "For Prometheus", {"200": _content("text/plain", _TEXT, "Its text format."), **_errors()})},
            "/healthz": {"get": _open("health", "Whether the server runs", {"200": _answer(_object(alive={"const": True}))})},
            "/readyz": {
                "get": _open("readiness", "Whether there are tables to show", {"200": _answer(_object(ready={"const": True})), "503": _error(503)})
            },
        },
        "components": {
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A pre-shared key (server.psk, server.operator_psk), or a token of the OpenID provider.",
                }
            },
            "schemas": _schemas(),
        },
    }


def _rows(settings: ServerSettings) -> Schema:
    offset = {"type": "integer", "minimum": 0, "maximum": _INT64_MAX, "default": 0}
    size = {"type": "integer", "minimum": 1, "maximum": settings.window_rows, "default": min(300, settings.window_rows)}
    parameters = [
        _name(),
        _query("offset", offset, "The first row. Beyond the end it is moved back to the last full window."),
        _query("size", size, "How many rows."),
        *_view(),
    ]
    return _operation("rows", "A window of a table or view", {"200": _json("Rows"), **_errors(400, 404, 503)}, parameters)


def _export() -> Schema:
    formulas = (
        'CSV only. "neutralise" puts a \' before a text that begins with =, +, -, @, a tab or a line break, also behind spaces, so that a '
        'spreadsheet shows it and does not run it; numbers stay as they are. "keep" writes every cell exactly as the table holds it.'
    )
    parameters = [
        _name(),
        _query("format", {"type": "string", "enum": list(FORMATS), "default": "csv"}, "Of the file."),
        _query("formulas", {"type": "string", "enum": list(FORMULAS), "default": "keep"}, formulas),
        *_view(),
    ]
    files = {media: {"schema": {"type": "string", "contentMediaType": media.split(";")[0]}} for media in MEDIA_TYPES.values()}
    headers = {
        "tablecast-generation": {"schema": _COUNT, "description": "The generation that the rows are of.", "required": True},
        "tablecast-rows": {"schema": _COUNT, "description": "How many rows the file has.", "required": True},
        "content-disposition": {"schema": _TEXT, "description": "A name for the file.", "required": True},
    }
    whole = {"description": "All rows of one instant. An export that breaks off has no last chunk.", "content": files, "headers": headers}
    return _operation("export", "A table or view as a file", {"200": whole, **_errors(400, 404, 503)}, parameters)


def _control(settings: ServerSettings) -> Schema:
    answers = {
        "200": _answer(_object(verdict={"const": "no_change"}), "This is live already: nothing was sent."),
        "202": _answer(_object(id=_TEXT), "Sent. The table control_raw tells the verdict under this id."),
        **_errors(400, 413, 429, 503),
    }
    operation = _operation("control", "Swaps the topics behind the tables, or how they are joined", answers)
    limit = f"At most {settings.message_bytes} bytes."
    return {**operation, "requestBody": {"required": True, "description": limit, "content": {_JSON: {"schema": _ref("Control")}}}}


def _name() -> Schema:
    schema = {"type": "string", "pattern": f"^{NAME.pattern}$", "maxLength": 200}
    return {"name": "name", "in": "path", "required": True, "schema": schema, "description": "A table, or an alias."}


def _view() -> list[Schema]:
    key = r"[A-Za-z_][A-Za-z0-9_]*(:(asc|desc)(:[A-Za-z0-9-]+)?)?"
    sort = {"type": "string", "pattern": f"^{key}(,{key}){{0,2}}$"}
    return [
        _query("sort", sort, "Up to three columns, as in balance:desc,name:asc:de; the last part is a language."),
        _as_json("filter", "Condition", "A structured condition."),
        _as_json("group", "Group", "Groups of the rows instead of the rows."),
        _query("search", {"type": "string", "maxLength": 1000}, "Text that a string column holds, whatever the case."),
    ]


def _as_json(name: str, schema: str, description: str) -> Schema:
    return {"name": name, "in": "query", "description": description, "content": {_JSON: {"schema": _ref(schema)}}}


def _query(name: str, schema: Schema, description: str) -> Schema:
    return {"name": name, "in": "query", "schema": schema, "description": description}


def _operation(id: str, summary: str, responses: Schema, parameters: list[Schema] | None = None) -> Schema:
    return {"operationId": id, "summary": summary, "parameters": parameters or [], "responses": responses}


def _open(id: str, summary: str, responses: Schema) -> Schema:
    """Needs no key."""
    return {**_operation(id, summary, {**responses, "429": _error(429)}), "security": []}


def _errors(*statuses: int) -> Schema:
    """What may go wrong, beside what may go wrong everywhere."""
    return {str(status): _error(status) for status in (400, 401, 403, 429, 503, *statuses)}


def _error(status: int) -> Schema:
    answer = _json("Error", f"One of the codes {', '.join(_codes(status))}.")
    if status == 401:
        answer["headers"] = {"www-authenticate": {"schema": {"const": "Bearer"}, "required": True}}
    if status == 429:
        answer["headers"] = {"retry-after": {"schema": _COUNT, "required": True, "description": "Seconds."}}
    return answer


def _codes(status: int) -> list[str]:
    found = {**vars(errors), **vars(login_errors)}.values()
    kinds = [kind for kind in found if isinstance(kind, type) and issubclass(kind, ViewerError)]
    return sorted(kind.code for kind in kinds if kind.status == status and kind is not ViewerError)


def _json(name: str, description: str = "As asked.") -> Schema:
    return _content(_JSON, _ref(name), description)


def _answer(schema: Schema, description: str = "As asked.") -> Schema:
    return _content(_JSON, schema, description)


def _content(media: str, schema: Schema, description: str) -> Schema:
    return {"description": description, "content": {media: {"schema": schema}}}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(**properties: Schema) -> Schema:
    """All of them are there."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _schemas() -> Schema:
    columns = _list(_ref("Column"))
    table = _object(name=_TEXT, columns=columns, rows=_COUNT, generation=_COUNT)
    row = {"type": "object", "additionalProperties": _CELL, "description": "Column to cell, as protocol/README.md says."}
    feed = _object(state={"enum": ["filling", "live", "stale"]}, message={"type": ["string", "null"]})
    told = {"type": "object"}
    return {
        "Column": _object(name=_TEXT, type={"enum": ["string", "int64", "double", "boolean", "timestamp"]}),
        "TableList": _object(tables=_list(table), aliases={"type": "object", "additionalProperties": _TEXT}),
        "Rows": _object(table=_TEXT, generation=_COUNT, total=_COUNT, offset=_COUNT, columns=columns, rows=_list(row)),
        "Status": _object(feed=feed, generation=_MAYBE_COUNT, reads=_MAYBE_COUNT, generations=_list(told), servers=_list(told)),
        "TopicList": _object(topics=_list(_object(name=_TEXT, partitions=_COUNT))),
        "Control": {
            "type": "object",
            "description": "usersTopic, accountsTopic and so on, one for each source, or all of them in topics; and joinType, left or inner. The "
            "pipeline judges what they say, and its verdict stands in control_raw. With dryRun true it only says what would become of it.",
            "properties": {"topics": {"type": ["object", "null"], "additionalProperties": _TEXT}},
        },
        "Condition": _condition(),
        "Group": _group(),
        "Error": _object(error=_object(code=_TEXT, message=_TEXT, hint=_TEXT)),
    }


def _group() -> Schema:
    aggregate = {
        "type": "object",
        "properties": {"op": {"enum": ["count", "sum", "min", "max", "avg"]}, "column": {"type": ["string", "null"]}},
        "required": ["op"],
    }
    return {
        "type": "object",
        "properties": {
            "by": {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": 3},
            "aggregates": {"type": "array", "items": aggregate, "maxItems": 20},
        },
        "required": ["by"],
    }


def _condition() -> Schema:
    parts = {"type": "array", "items": _ref("Condition"), "minItems": 1, "maxItems": 1000}
    values = {"type": "array", "items": _SCALAR, "maxItems": 1000}
    compared = {"enum": ["eq", "ne", "lt", "le", "gt", "ge", "contains", "starts", "ends"]}
    return {
        "description": "At most ten deep. A value is written as a cell of its column is.",
        "oneOf": [
            _object(op=compared, column=_TEXT, value=_SCALAR),
            _object(op={"const": "in"}, column=_TEXT, values=values),
            _object(op={"const": "null"}, column=_TEXT),
            _object(op={"enum": ["and", "or"]}, of=parts),
            _object(op={"const": "not"}, of=_ref("Condition")),
        ],
    }
