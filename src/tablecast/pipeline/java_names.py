"""Names of Java that PySpark uses, asked for once.

PySpark asks Java what `org.apache.spark.sql.functions` is, and what its `lit` is, each of the hundreds of times that a plan says `F.lit`. Each
question waits for the answer of another process, and these are a third of all that are asked while a plan is built.
"""

from typing import Any

from py4j.java_gateway import JavaMember, JVMView

CLASSES = ("org.apache.spark.sql.functions", "functions", "PythonUtils", "PythonSQLUtils")
"""As PySpark names those that expressions are built with."""


class Remembered:
    """A Java class that is asked for each of its methods once. Whatever else it has is asked for each time."""

    def __init__(self, java_class: Any) -> None:
        self._java_class = java_class

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._java_class, name)
        if isinstance(found, JavaMember):
            setattr(self, name, found)
        return found


def remember_names(jvm: JVMView) -> None:
    """From now on, in whatever is built through this view of Java. A second call changes nothing."""
    for name in CLASSES:
        if name not in vars(jvm):
            setattr(jvm, name, Remembered(getattr(jvm, name)))
