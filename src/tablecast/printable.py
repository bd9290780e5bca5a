"""A stranger's text on its way to a terminal or into a log: shown, never obeyed, and never more than the one line that it was meant to be."""

import json

_HARMLESS = frozenset("\u00a0\u202f\u3000\u200c\u200d")
"""Spaces that do not break, and what joins letters and emoji: Python calls them unprintable, but they steer nothing."""
_REPLACED = {"\n": "\N{SYMBOL FOR NEWLINE}", "\t": " "}


def plain(text: str) -> str:
    """For a screen: a sign stands where something would steer the terminal."""
    return text if text.isprintable() else "".join(char if _is_harmless(char) else _REPLACED.get(char, "\N{REPLACEMENT CHARACTER}") for char in text)


def escaped(text: str, keep: str = "") -> str:
    r"""For a log or standard error: what is not printable is told as Python writes it (`\n`, `\x1b`, `\u202e`), but for what is in `keep`."""
    return text if text.isprintable() else "".join(char if _is_harmless(char) or char in keep else repr(char)[1:-1] for char in text)


def escaped_json(text: str) -> str:
    """JSON as it was, to every reader of JSON; what is not printable in its strings is escaped, which JSON itself asks for only below U+0020."""
    return text if text.isprintable() else "".join(char if _is_harmless(char) else json.dumps(char)[1:-1] for char in text)


def _is_harmless(char: str) -> bool:
    return char.isprintable() or char in _HARMLESS
