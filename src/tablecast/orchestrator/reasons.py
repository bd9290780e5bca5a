"""What an error says, in one line."""

from py4j.protocol import Py4JJavaError

MOST_CHARACTERS = 500


def reason_of(error: BaseException | None) -> str:
    """Java's own words where the error is Java's: the first line of py4j's only names a call."""
    text = error.java_exception.toString() if isinstance(error, Py4JJavaError) else error
    return first_line(str(text)) or type(error).__name__


def first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:MOST_CHARACTERS]
