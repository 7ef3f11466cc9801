"""The browser that tests drive: Debian's Chromium, headless, through Playwright.

Playwright's synchronous interface leaves an event loop running in the thread that starts it. So open it for
the tests of one module at most (a module-scoped fixture) and let it go after them.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = [
    "--no-sandbox",  # CI runs as root, in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NO_BROWSER = "no Chromium found: install Debian's package chromium, or set LABKIT_CHROMIUM to its path"


def chromium() -> str:
    """The browser's path. Without one a test fails in CI on Linux, and is skipped elsewhere."""
    named = os.environ.get("LABKIT_CHROMIUM", "")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    if found:
        return found
    if os.environ.get("CI") and sys.platform == "linux":
        pytest.fail(NO_BROWSER)
    pytest.skip(NO_BROWSER)


@contextmanager
def open_browser() -> Iterator[Any]:
    """A Playwright browser; closed at the end."""
    from playwright.sync_api import sync_playwright

    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        try:
            yield browser
        finally:
            browser.close()
