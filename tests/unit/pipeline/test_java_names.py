"""Each name of Java is asked for once."""

from collections import Counter
from typing import Any

import pytest
from py4j.java_gateway import GatewayClient, GatewayProperty, JavaMember

from tablecast.pipeline.java_names import CLASSES, Remembered, remember_names


class Asked:
    """Stands for Java, or a class of it: counts what it is asked for."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.counts = Counter[str]()
        self._found = found

    def __getattr__(self, name: str) -> Any:
        if name not in self._found:
            raise AttributeError(name)
        self.counts[name] += 1
        return self._found[name]


def method(name: str) -> JavaMember:
    client = GatewayClient(gateway_property=GatewayProperty(True, None))
    client.converters = []
    return JavaMember(name, None, "z:org.apache.spark.sql.functions", client)


def test_a_method_is_asked_for_once_and_a_value_each_time() -> None:
    java = Asked({"lit": method("lit"), "version": 4})
    remembered = Remembered(java)
    assert remembered.lit is remembered.lit
    assert (remembered.version, remembered.version) == (4, 4)
    assert java.counts == {"lit": 1, "version": 2}


def test_what_java_does_not_have_is_missed_each_time() -> None:
    remembered = Remembered(Asked({}))
    for _ in range(2):
        with pytest.raises(AttributeError, match="nonsense"):
            _ = remembered.nonsense


def test_classes_are_asked_for_once_also_by_a_second_call() -> None:
    classes = {name: Asked({"lit": method("lit")}) for name in CLASSES}
    jvm = Asked(dict(classes))
    for _ in range(2):
        remember_names(jvm)
        assert getattr(jvm, CLASSES[0]).lit.name == "lit"
    assert jvm.counts == dict.fromkeys(CLASSES, 1)
    assert classes[CLASSES[0]].counts == {"lit": 1}
