"""Text in the order of a language."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecast.errors import BadView
from tablecast.tables.cells import cell_key
from tablecast.tables.collation import collation

WORDS = ["zebra", "Äpfel", "apfel", "Apfel", "ångström", "öl", "ol", "", "Zoë"]


@pytest.mark.parametrize(
    ("locale", "expected"),
    [
        ("de", ["", "ångström", "apfel", "Apfel", "Äpfel", "ol", "öl", "zebra", "Zoë"]),
        ("sv", ["", "apfel", "Apfel", "ol", "zebra", "Zoë", "ångström", "Äpfel", "öl"]),
        ("en-US", ["", "ångström", "apfel", "Apfel", "Äpfel", "ol", "öl", "zebra", "Zoë"]),
    ],
)
def test_each_language_has_its_order(locale: str, expected: list[str]) -> None:
    assert sorted(WORDS, key=cell_key("string", locale=locale)) == expected
    assert sorted([*WORDS, None], key=cell_key("string", True, locale)) == [*reversed(expected), None]


@given(st.lists(st.text(max_size=5), min_size=2, max_size=2, unique=True), st.booleans())
def test_no_key_is_the_beginning_of_another(texts: list[str], descending: bool) -> None:
    key = cell_key("string", descending, "de")
    one, other = map(key, texts)
    assert one != other
    assert not one.startswith(other)
    assert not other.startswith(one)


@pytest.mark.parametrize("locale", ["xx", "", "not a locale", "de_DE_and_more_that_is_long"])
def test_a_locale_that_is_none_is_refused(locale: str) -> None:
    with pytest.raises(BadView, match="no order of texts"):
        collation(locale)


def test_without_the_library_the_refusal_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "icu", None)
    collation.cache_clear()
    with pytest.raises(BadView, match=r"tablecast\[locale\]"):
        collation("de")
    collation.cache_clear()
