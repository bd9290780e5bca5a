"""What keeps somebody out: errors of logins, of roles, and of what a stranger may send. They belong to the tree of errors.py.

ViewerError
├── LoginRefused, LoginRequired, LoginTimeout
├── TokenRefused, TokenExpired, KeyWithdrawn, LoginUnavailable
├── RoleMissing, NotOperator
├── OriginRefused
├── LimitReached                ConnectionsTooMany
├── WaitFirst                   LoginsTooMany, RequestsTooMany
└── RequestUnreadable, HeadTooLarge, HeadTimeout, BodyTooLarge, BodyTimeout
"""

from typing import ClassVar

from tablecast.errors import LimitReached, ViewerError


class LoginRefused(ViewerError):
    code = "wrong_key"
    status, close_code = 401, 4401

    def __init__(self) -> None:
        super().__init__("The key is not the one of this server.", "Ask the operator for the pre-shared key (server.psk).")


class LoginRequired(ViewerError):
    code = "login_required"
    status, close_code = 401, 4401

    def __init__(self) -> None:
        super().__init__("Nothing is served before a login.", "Send a key or token first: a login message, or Authorization: Bearer <key>.")


class LoginTimeout(ViewerError):
    code = "login_timeout"
    status, close_code = 408, 4408

    def __init__(self, seconds: float) -> None:
        super().__init__(f"No login came within {seconds:g} s.", "Send a login message as the first one.")


class TokenRefused(ViewerError):
    """`reason` never holds a part of the token."""

    code = "bad_token"
    status, close_code = 401, 4401

    def __init__(self, reason: str) -> None:
        super().__init__(f"The token is not taken: {reason}.", "Log in again at the provider that this server trusts (server.oidc).")


class TokenExpired(ViewerError):
    code = "token_expired"
    status, close_code = 401, 4419

    def __init__(self) -> None:
        super().__init__("The token has expired.", "Log in again with a new one.")


class KeyWithdrawn(ViewerError):
    code = "key_withdrawn"
    status, close_code = 401, 4401

    def __init__(self) -> None:
        super().__init__("The key of this login was withdrawn.", "Ask the operator for the new pre-shared key (server.psk).")


class LoginUnavailable(ViewerError):
    code = "login_unavailable"
    status, close_code, transient = 503, 4503, True

    def __init__(self) -> None:
        super().__init__("Whether the token is good cannot be told now: its provider has to be asked first.", "Try again in a moment.")


class RoleMissing(ViewerError):
    code = "no_role"
    status, close_code = 403, 4403

    def __init__(self, claim: str) -> None:
        what = f"The token is good, but its claim {claim[:100]!r} gives no role here."
        super().__init__(what, "Ask who gives out roles for one of server.oidc.viewer_roles or server.oidc.operator_roles.")


class NotOperator(ViewerError):
    code, status = "not_operator", 403

    def __init__(self) -> None:
        super().__init__("Only an operator may do this, and this login is a viewer's.", "Log in with an operator's key or token.")


class OriginRefused(ViewerError):
    code, status = "wrong_origin", 403

    def __init__(self, origin: str) -> None:
        super().__init__(f"Pages of {origin[:200]!r} may not connect to this server.", "Add that origin to server.origins.")


class ConnectionsTooMany(LimitReached):
    code = "too_many_connections"
    status = 429
    what = "There are {} connections of this address that have not logged in, or too many of all together."
    remedy = "Log in on one of them, or close some (server.strangers)."


class WaitFirst(ViewerError):
    """`retry_after` is in how many seconds it may be tried again."""

    code = "wait_first"
    status, transient = 429, True
    what: ClassVar[str]

    def __init__(self, retry_after: int) -> None:
        super().__init__(self.what, f"Try again in {retry_after} s.")
        self.retry_after = retry_after


class LoginsTooMany(WaitFirst):
    code = "too_many_logins"
    close_code = 4429
    what = "Too many wrong keys or tokens came from this address."


class RequestsTooMany(WaitFirst):
    code = "too_many_requests"
    what = "Too many requests without a login came from this address."


class RequestUnreadable(ViewerError):
    code = "bad_request"

    def __init__(self) -> None:
        super().__init__("That is not a request of HTTP/1.1.", "Browsers, curl and every HTTP library send one.")


class HeadTooLarge(ViewerError):
    code, status = "head_too_large", 431

    def __init__(self, limit: int) -> None:
        super().__init__(f"The head of a request is over {limit} bytes.", "Send a shorter address and fewer or shorter headers.")


class HeadTimeout(ViewerError):
    code, status = "head_timeout", 408

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The head of a request was not whole within {seconds:g} s.", "Send it at once (server.login_seconds).")


class BodyTooLarge(ViewerError):
    code, status = "body_too_large", 413

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body of a request is over {limit} bytes.", "Send less (server.message_bytes).")


class BodyTimeout(ViewerError):
    code, status = "body_timeout", 408

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The body of a request was not whole within {seconds:g} s.", "Send it at once (server.login_seconds).")
