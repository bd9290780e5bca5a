"""Two keys are good while one is replaced by the other, and who is what is told by the key."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from tablecast.server.keys import OPERATOR_PSK, PSK, KeyFiles, Keys
from tablecast.settings import ServerSettings


def role_of(keys: Keys, credential: str) -> str | None:
    found = keys.find(credential)
    return None if found is None else found.role


def test_a_single_key_makes_operators_as_long_as_these_have_none_of_their_own() -> None:
    assert role_of(Keys(SecretStr("schlüssel")), "schlüssel") == "operator"
    both = Keys(SecretStr("for viewers"), SecretStr("for operators"))
    assert [role_of(both, key) for key in ("for viewers", "for operators", "for nobody")] == ["viewer", "operator", None]
    assert role_of(Keys(None, SecretStr("for operators")), "for operators") == "operator"


@pytest.mark.parametrize("key", ["", "schlüsse", "schlüssel ", "\ud800", "schlüssel\nnächster"])
def test_others_are_not_found(key: str) -> None:
    assert Keys(SecretStr("schlüssel\nnächster")).find(key) is None


def test_every_line_is_a_key() -> None:
    keys = Keys(SecretStr("the old one\n\n  the new one \r\n"))
    assert [role_of(keys, key) for key in ("the old one", "the new one")] == ["operator", "operator"]
    assert len(keys) == 2


def test_keys_that_are_taken_anew_replace_all_others() -> None:
    keys = Keys(SecretStr("the old one"))
    old = keys.find("the old one")
    assert old is not None
    keys.take(SecretStr("the old one\nthe new one"), None)
    assert keys.has(old.digest)
    keys.take(SecretStr("the new one"), None)
    assert (keys.has(old.digest), keys.find("the old one"), role_of(keys, "the new one")) == (False, None, "operator")


def test_keys_are_not_shown() -> None:
    keys = Keys(SecretStr("schlüssel"))
    assert "schl" not in repr(keys) + repr(keys.find("schlüssel"))


def test_files_are_read_as_they_are_now_and_other_settings_stay(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("the old one\n")
    files = KeyFiles(
        ServerSettings(psk=SecretStr("the old one"), operator_psk=SecretStr("for operators")), {PSK: file, "kafka.sasl.password": tmp_path}
    )
    assert files.paths == (file,)
    file.write_text("the old one\nthe new one\n")
    psk, operator_psk = files.read()
    assert (psk, operator_psk) == (SecretStr("the old one\nthe new one"), SecretStr("for operators"))


@pytest.mark.parametrize(("text", "why"), [("", "empty"), ("short", "less than 8"), ("long one\nshort", "less than 8"), ("for operators", "and in")])
def test_what_is_no_key_is_refused_without_a_word_of_it(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "keys"
    file.write_text(text)
    files = KeyFiles(ServerSettings(operator_psk=SecretStr("for operators")), {PSK: file})
    with pytest.raises(ValueError, match=why) as refused:
        files.read()
    assert not text or text not in str(refused.value)


def test_a_file_that_is_gone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="can be read"):
        KeyFiles(ServerSettings(), {OPERATOR_PSK: tmp_path / "none"}).read()
