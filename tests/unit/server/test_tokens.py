"""Which tokens are taken, as what, and which never."""

import asyncio
import base64
import json
import time
from typing import Any

import jwt
import pytest

from tablecast.login_errors import RoleMissing, TokenExpired, TokenRefused
from tablecast.server import tokens as tokens_module
from tablecast.server.key_set import KeySet
from tablecast.server.tokens import Tokens, looks_like_token
from tablecast.settings import OidcSettings
from tests.token_server import TokenServer


def settings_of(provider: TokenServer, **more: Any) -> OidcSettings:
    return OidcSettings.model_validate({"issuer": provider.issuer, "audience": provider.audience, **more})


def reading(provider: TokenServer, **more: Any) -> Tokens:
    """What reads tokens, with the keys as they are now."""
    told = provider.published("/jwks")
    assert told is not None
    keys = KeySet(lambda: told["keys"])
    asyncio.run(keys.fetch())
    return Tokens(settings_of(provider, **more), keys)


@pytest.mark.parametrize(
    ("claims", "settings", "role"),
    [
        ({"roles": ["viewer"]}, {}, "viewer"),
        ({"roles": ["viewer", "operator"]}, {}, "operator"),
        ({"roles": "staff operator"}, {}, "operator"),
        ({"realm_access": {"roles": ["traders"]}}, {"roles_claim": "realm_access.roles", "viewer_roles": ["traders"]}, "viewer"),
        ({"https://x.example/roles": ["ops"]}, {"roles_claim": "https://x.example/roles", "operator_roles": ["ops"]}, "operator"),
    ],
)
def test_the_role_stands_in_a_claim(provider: TokenServer, claims: dict[str, Any], settings: dict[str, Any], role: str) -> None:
    read = reading(provider, **settings).read(provider.token("zoe", **claims))
    assert read is not None
    assert read.role == role
    assert read.expires == pytest.approx(time.time() + 3600 + 30, abs=5)


@pytest.mark.parametrize("claims", [{}, {"roles": []}, {"roles": ["admin"]}, {"roles": {"viewer": True}}, {"roles": [["viewer"]]}, {"roles": 7}])
def test_a_good_token_without_a_role_is_kept_out(provider: TokenServer, claims: dict[str, Any]) -> None:
    with pytest.raises(RoleMissing) as refused:
        reading(provider).read(provider.token("zoe", **claims))
    assert (refused.value.status, refused.value.close_code) == (403, 4403)


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"aud": "another"}, "another audience"),
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"nbf": int(time.time()) + 1000}, "not valid yet"),
        ({"exp": None}, "lacks one of the claims"),
        ({"aud": None}, "lacks one of the claims"),
    ],
)
def test_a_token_for_another_or_for_ever_is_refused(provider: TokenServer, claims: dict[str, Any], why: str) -> None:
    with pytest.raises(TokenRefused, match=why):
        reading(provider).read(provider.token("zoe", **{"roles": ["viewer"], **claims}))


def test_an_expired_token_is_told_apart(provider: TokenServer) -> None:
    tokens = reading(provider)
    assert tokens.read(provider.token("zoe", lifetime=-10, roles=["viewer"])) is not None, "within the leeway"
    with pytest.raises(TokenExpired) as refused:
        tokens.read(provider.token("zoe", lifetime=-31, roles=["viewer"]))
    assert (refused.value.code, refused.value.status, refused.value.close_code) == ("token_expired", 401, 4419)


def test_a_token_that_was_read_before_expires_too(provider: TokenServer, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = reading(provider, leeway_seconds=0)
    token = provider.token("zoe", lifetime=100, roles=["viewer"])
    assert tokens.read(token) == tokens.read(token)
    monkeypatch.setattr(tokens._keys, "now", lambda: time.time() + 101)
    with pytest.raises(TokenExpired):
        tokens.read(token)


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def test_what_the_public_key_or_nobody_signed_is_refused(provider: TokenServer) -> None:
    tokens = reading(provider)
    good = provider.token("zoe", roles=["operator"])
    kid = jwt.get_unverified_header(good)["kid"]
    _, claims, signature = good.split(".")
    unsigned = f"{_encoded({'alg': 'none', 'typ': 'JWT', 'kid': kid})}.{claims}."
    shared = f"{_encoded({'alg': 'HS256', 'typ': 'JWT', 'kid': kid})}.{claims}.{signature}"
    changed = ".".join([good.split(".")[0], _encoded({**jwt.decode(good, options={"verify_signature": False}), "sub": "eve"}), signature])
    for token, why in ((unsigned, "signed in a way"), (shared, "signed in a way"), (changed, "signature"), (good[:-6] + "AAAAAA", "signature")):
        with pytest.raises(TokenRefused, match=why):
            tokens.read(token)


def test_no_setting_allows_a_shared_secret(provider: TokenServer) -> None:
    for algorithm in ("none", "HS256", "HS512"):
        with pytest.raises(ValueError, match="algorithms"):
            settings_of(provider, algorithms=[algorithm])


def test_an_algorithm_that_is_not_listed_is_refused(provider: TokenServer) -> None:
    with pytest.raises(TokenRefused, match="algorithms"):
        reading(provider, algorithms=["ES256"]).read(provider.token("zoe", roles=["viewer"]))


def test_a_token_of_an_unknown_key_is_neither_good_nor_bad_yet(provider: TokenServer) -> None:
    assert reading(provider).read(TokenServer().token("zoe", iss=provider.issuer, roles=["viewer"])) is None


@pytest.mark.parametrize("text", ["", "a.b", "schlüssel", "a.b.c.d", "a b.c.d", "open sesame"])
def test_a_key_does_not_look_like_a_token(text: str) -> None:
    assert not looks_like_token(text)


@pytest.mark.parametrize(
    "text", ["a.b.c", "eyJ9.e30.x", _encoded([1]) + ".e30.x", _encoded({"alg": 7}) + ".e30.x", _encoded({"alg": "RS256", "kid": {}}) + ".e30."]
)
def test_what_only_looks_like_one_is_refused(provider: TokenServer, text: str) -> None:
    with pytest.raises(TokenRefused):
        reading(provider).read(text)


def test_verified_tokens_do_not_fill_the_memory(provider: TokenServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens_module, "VERIFIED", 3)
    tokens = reading(provider)
    for number in range(5):
        tokens.read(provider.token(f"user {number}", roles=["viewer"]))
    assert len(tokens._verified) == 3


@pytest.mark.parametrize("issuer", ["http://provider.example", "provider.example", "ftp://127.0.0.1"])
def test_a_provider_is_asked_over_tls(issuer: str) -> None:
    with pytest.raises(ValueError, match="https://"):
        OidcSettings.model_validate({"issuer": issuer, "audience": "x"})
