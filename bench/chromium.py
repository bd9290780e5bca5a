"""The system's own Chromium, headless, through Playwright. Playwright never downloads one."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# A process of root has no sandbox to be put in.
FLAGS_OF_ROOT = ("--no-sandbox",)


def find_chromium() -> str:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise FileNotFoundError(f"There is no {', '.join(NAMES[:-1])} or {NAMES[-1]} here. Install Chromium (Debian: apt install chromium).")
    return found


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser with a user data folder of its own, gone with the context. While it lasts, the calling thread has a running event loop."""
    flags = FLAGS + (FLAGS_OF_ROOT if os.geteuid() == 0 else ())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=flags)
        try:
            yield browser
        finally:
            browser.close()
