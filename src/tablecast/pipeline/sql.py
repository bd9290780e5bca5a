"""Expressions of Spark SQL, put together as text.

PySpark's own expressions ask Java at each step: thousands of questions for the two plans of a generation, each of which waits for another
process. A text is handed over in one. docs/decisions/0014 has the figures.

Every function of Spark SQL is here under its name: `sql.concat(one, other)` is `concat(one, other)`. As an argument, a text is the name of a
column, a Python function is a lambda, a dict is a map, and anything else that is no expression is a literal.
"""

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


class Expression:
    """A text, and the name that it is to have where names matter: in a select and in a struct."""

    __slots__ = ("name", "text")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str, name: str | None = None) -> None:
        self.text = text
        self.name = name

    def __str__(self) -> str:
        return self.text if self.name is None else f"{self.text} AS {_identifier(self.name)}"

    def alias(self, name: str) -> "Expression":
        return Expression(self.text, name)

    def __getitem__(self, field: str) -> "Expression":
        """The field of a struct."""
        return Expression(f"{self.text}[{_literal(field)}]", field)

    def __eq__(self, other: object) -> "Expression":  # type: ignore[override]
        return _infix(self, "=", other)

    def __ne__(self, other: object) -> "Expression":  # type: ignore[override]
        return _infix(self, "!=", other)

    def __lt__(self, other: object) -> "Expression":
        return _infix(self, "<", other)

    def __le__(self, other: object) -> "Expression":
        return _infix(self, "<=", other)

    def __gt__(self, other: object) -> "Expression":
        return _infix(self, ">", other)

    def __ge__(self, other: object) -> "Expression":
        return _infix(self, ">=", other)

    def __add__(self, other: object) -> "Expression":
        return _infix(self, "+", other)

    def __sub__(self, other: object) -> "Expression":
        return _infix(self, "-", other)

    def __and__(self, other: object) -> "Expression":
        return _infix(self, "AND", other)

    def __or__(self, other: object) -> "Expression":
        return _infix(self, "OR", other)

    def __invert__(self) -> "Expression":
        return Expression(f"(NOT {self.text})")

    def is_null(self) -> "Expression":
        return Expression(f"({self.text} IS NULL)")

    def is_not_null(self) -> "Expression":
        return Expression(f"({self.text} IS NOT NULL)")

    def is_in(self, values: Iterable[object]) -> "Expression":
        """False where there are none."""
        known = ", ".join(map(_literal, values))
        return Expression(f"({self.text} IN ({known}))") if known else lit(False)

    def between(self, least: object, most: object) -> "Expression":
        return Expression(f"({self.text} BETWEEN {_literal(least)} AND {_literal(most)})")

    def cast(self, kind: str) -> "Expression":
        return Expression(f"CAST({self.text} AS {kind})")


class Case(Expression):
    """What when() begins; null where nothing holds and there is no otherwise()."""

    __slots__ = ("_branches",)

    def __init__(self, branches: str) -> None:
        super().__init__(f"CASE{branches} END")
        self._branches = branches

    def when(self, condition: Expression, value: object) -> "Case":
        return Case(f"{self._branches} WHEN {condition.text} THEN {_operand(value)}")

    def otherwise(self, value: object) -> Expression:
        return Expression(f"CASE{self._branches} ELSE {_operand(value)} END")


def when(condition: Expression, value: object) -> Case:
    return Case("").when(condition, value)


def col(name: str) -> Expression:
    return Expression(_identifier(name), name)


def lit(value: object) -> Expression:
    """Of a text, a number, a truth value or None."""
    return Expression(_literal(value))


def try_cast(expression: Expression, kind: str) -> Expression:
    """Null where it cannot be cast."""
    return Expression(f"TRY_CAST({expression.text} AS {kind})")


def over(function: Expression, window: str) -> Expression:
    """`window` is what stands between the brackets of OVER."""
    return Expression(f"{function.text} OVER ({window})")


def struct(*fields: str | Expression) -> Expression:
    """Each field under its name."""
    named = [col(field) if isinstance(field, str) else field for field in fields]
    return Expression(f"named_struct({', '.join(f'{_literal(field.name)}, {field.text}' for field in named)})")


def __getattr__(function: str) -> Callable[..., Expression]:
    if function.startswith("_"):
        raise AttributeError(function)

    def called(*arguments: object) -> Expression:
        return Expression(f"{function}({', '.join(map(_argument, arguments))})")

    return called


def struct_type(fields: Iterable[tuple[str, str]]) -> str:
    """The type of a struct, of names and types."""
    return f"struct<{', '.join(f'{_identifier(name)}: {kind}' for name, kind in fields)}>"


def select(frame: DataFrame, *expressions: str | Expression) -> DataFrame:
    """A text is the name of a column."""
    return frame.selectExpr(*map(str, (col(given).text if isinstance(given, str) else given for given in expressions)))


def with_columns(frame: DataFrame, columns: Mapping[str, Expression]) -> DataFrame:
    return frame.withColumns({name: native(expression) for name, expression in columns.items()})


def native(expression: Expression) -> Column:
    """For what takes PySpark's own expressions only."""
    return F.expr(str(expression))


class _Depth(threading.local):
    lambdas = 0


_depth = _Depth()


def _lambda(body: Callable[..., Expression]) -> str:
    """Its variables are named by how deep it stands within others, so that none hides another."""
    count = len(inspect.signature(body).parameters)
    names = [f"x{_depth.lambdas}_{number}" for number in range(count)]
    _depth.lambdas += 1
    try:
        text = body(*map(Expression, names)).text
    finally:
        _depth.lambdas -= 1
    variables = ", ".join(names)
    return f"{variables if count == 1 else f'({variables})'} -> {text}"


def _argument(value: object) -> str:
    if isinstance(value, str):
        return _identifier(value)
    if isinstance(value, Mapping):
        return f"map({', '.join(_literal(part) for entry in value.items() for part in entry)})"
    return _lambda(value) if callable(value) else _operand(value)


def _infix(left: Expression, operator: str, right: object) -> Expression:
    return Expression(f"({left.text} {operator} {_operand(right)})")


def _operand(value: object) -> str:
    return value.text if isinstance(value, Expression) else _literal(value)


def _literal(value: object) -> str:
    if isinstance(value, str):
        # The dollar, since Spark would put the value of a setting where it finds ${its name}, in a literal too.
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024") + "'"
    if value is None or isinstance(value, bool):
        return "NULL" if value is None else str(value).lower()
    if isinstance(value, float):
        return f"CAST('{value}' AS DOUBLE)"
    if isinstance(value, int):
        return str(value)
    raise TypeError(f"a literal is to be a text, a number, a truth value or None, not {value!r}")


def _identifier(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
