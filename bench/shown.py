"""What a server shows of a table, row by row, to be compared with the truth."""

from bench.backlog import numbers_in
from bench.stack import Stack
from bench.trips import Rows

PAGE = 5000


def rows_shown(stack: Stack, table: str) -> Rows:
    """By userId, of a table that keeps the last row of each user and that nobody changes meanwhile."""
    rows: Rows = {}
    offset, total = 0, 1
    while offset < total:
        answer = stack.rows(table, offset=offset, size=PAGE)
        rows |= {row["userId"]: numbers_in(table, row) for row in answer["rows"]}
        offset, total = offset + PAGE, answer["total"]
    return rows
