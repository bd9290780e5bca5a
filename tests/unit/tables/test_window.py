import pytest

from tablecast.errors import BadWindow
from tablecast.tables.window import Window


@pytest.mark.parametrize(("offset", "size"), [(-1, 10), (0, 0), (0, -1), (0, 101), (0, 1_000_000)])
def test_a_window_that_cannot_be_is_refused(offset: int, size: int) -> None:
    with pytest.raises(BadWindow, match="cannot be"):
        Window.checked(offset, size, 100)


@pytest.mark.parametrize(("offset", "total", "start"), [(0, 0, 0), (0, 50, 0), (5, 50, 5), (40, 50, 40), (41, 50, 40), (10**30, 50, 40), (7, 5, 0)])
def test_an_offset_beyond_the_end_is_moved_back_to_the_last_full_window(offset: int, total: int, start: int) -> None:
    assert Window.checked(offset, 10, 100).start(total) == start
