"""One JupyterLab for all browser tests, one browser for each module of them, a folder for the pictures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_tools import chromium, open_browser
from lab_page import HEIGHT, LONGEST, WIDTH
from lab_server import LabServer, running_lab
from playwright.sync_api import Browser, BrowserContext, expect

expect.set_options(timeout=LONGEST)


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    chromium()  # without a browser there is no need to start JupyterLab
    with running_lab(tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the pictures go: LABKIT_SCREENSHOTS, if that is set."""
    named = os.environ.get("LABKIT_SCREENSHOTS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without a past, for the tests of one module."""
    with browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}) as context:
        yield context
