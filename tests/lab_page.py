"""One lab in a real JupyterLab, driven as a learner would: by clicks and keys.

It waits for what a learner waits for (a cell that has run, a kernel that is idle), never for a time.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab_server import LabServer
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request

from labkit.places import labs_dir

LONGEST = 90_000  # milliseconds that anything may take: a lab from top to bottom, on a busy machine
WIDTH, HEIGHT = 1280, 900  # of the window, in pixels: a small laptop
SCRIPT = Path(__file__).with_name("lab_page.js")
THIS_COMPUTER = re.compile(r"(https?|wss?)://127\.0\.0\.1:|data:|blob:")
DIALOG = ".jp-Dialog"


@dataclass
class LabPage:
    """One lab in the browser, where its pictures go, and what the browser had to complain about."""

    page: Page
    name: str
    shots: Path
    complaints: list[str] = field(default_factory=list)
    abroad: list[str] = field(default_factory=list)
    """Addresses beyond this computer that the page asked for."""

    def ask(self, call: str, *arguments: Any) -> Any:
        """The answer of one of lab_page.js' functions about this lab."""
        return self.page.evaluate(f"all => labPage.{call}(...all)", [self.name, *arguments])

    def wait(self, call: str, *arguments: Any) -> None:
        """Wait until such a function says yes; the browser asks it at each frame."""
        script = f"all => labPage.{call}(...all)"
        self.page.wait_for_function(script, arg=[self.name, *arguments], timeout=LONGEST)

    def menu(self, bar: str, *labels: str) -> None:
        """Click through the menu bar."""
        self.page.locator(".lm-MenuBar-item").get_by_text(bar, exact=True).click()
        for label in labels:
            words = self.page.locator(".lm-Menu-itemLabel").get_by_text(label, exact=True)
            item = self.page.locator(".lm-Menu-item").filter(has=words).last
            item.hover()  # opens a menu beside it
            item.click()

    # -- cells

    def cells(self) -> list[dict[str, Any]]:
        """All cells: kind, source, count, outputs."""
        found: list[dict[str, Any]] = self.ask("cells")
        return found

    def outputs(self) -> list[dict[str, Any]]:
        """All outputs of all cells, in their order."""
        return [output for cell in self.cells() for output in cell["outputs"]]

    def find(self, text: str) -> int:
        """The place of the last code cell whose source holds a text."""
        found = [
            at for at, cell in enumerate(self.cells()) if cell["kind"] == "code" and text in cell["source"]
        ]
        assert found, f"no cell has {text!r} in it"
        return found[-1]

    def cell(self, place: int) -> Locator:
        """A cell, scrolled into view."""
        self.ask("show", place)
        found = self.page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{place}"]')
        found.scroll_into_view_if_needed(timeout=LONGEST)
        return found

    def output(self, place: int) -> Locator:
        """What is shown below a cell."""
        return self.cell(place).locator(".jp-Cell-outputWrapper")

    # -- running

    def run_all(self) -> None:
        """Run > Run All Cells, and wait until the last one has run."""
        self.ask("begin", None)
        self.menu("Run", "Run All Cells")
        self.wait("done", None)

    def run(self, place: int) -> None:
        """Go to a cell, press Shift+Enter, and wait until it has run."""
        self.ask("begin", place)
        if self.cell(place).locator(".cm-content").is_visible():
            self.cell(place).locator(".cm-content").click()
        else:  # its code is folded: come from the text above it
            self.cell(place - 1).click()
            self.page.keyboard.press("Shift+Enter")
        self.page.keyboard.press("Shift+Enter")
        self.wait("done", place)

    def write(self, place: int, old: str, new: str) -> None:
        """Put the cursor on the line that holds `old`, and type `new` over it."""
        self.cell(place).locator(".cm-line").filter(has_text=old).last.click()
        self.page.keyboard.press("End")
        self.page.keyboard.press("Shift+Home")
        self.page.keyboard.type(new)

    def add_below(self, place: int, code: str) -> int:
        """A new cell below another, with one line of code, as with Escape and B; returns its place."""
        self.cell(place).locator(".cm-content").click()
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("b")
        self.page.keyboard.press("Enter")
        self.page.keyboard.type(code)
        return place + 1

    def restart(self) -> None:
        """Kernel > Restart Kernel, yes, and wait for the new one."""
        self.ask("awaitRestart")
        self.menu("Kernel", "Restart Kernel…")
        self.page.locator(DIALOG).get_by_role("button", name="Confirm Kernel Restart").click()
        self.page.locator(DIALOG).wait_for(state="detached", timeout=LONGEST)
        self.wait("restarted")

    def execute(self, code: str) -> str:
        """Run code in the lab's kernel, beside the notebook; returns what it printed."""
        printed: str = self.ask("execute", code)
        return printed

    # -- looks

    def theme(self, name: str) -> None:
        """Settings > Theme > JupyterLab Light or Dark, and wait until it is there and nothing covers it."""
        self.menu("Settings", "Theme", f"JupyterLab {name}")
        script = "name => document.body.dataset.jpThemeName === name"
        self.page.wait_for_function(script, arg=f"JupyterLab {name}", timeout=LONGEST)
        self.page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=LONGEST)

    def shoot(self, name: str, part: Locator | None = None) -> Path:
        """A picture of the window, or of a part of it, which may be higher than the window is."""
        path = self.shots / f"{Path(self.name).stem[:2]}_{name}.png"
        box = part.bounding_box() if part else None
        if part is None or box is None:
            self.page.screenshot(path=path)
            return path
        self.page.set_viewport_size({"width": WIDTH, "height": max(HEIGHT, int(box["height"]) + 200)})
        part.scroll_into_view_if_needed(timeout=LONGEST)
        part.screenshot(path=path)
        self.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        return path

    def shoot_all(self, name: str) -> None:
        """Pictures of the whole lab, window by window."""
        window, more = 0, True
        while more:
            more = self.ask("scroll", window)
            self.shoot(f"{name}_{window:02}")
            window += 1


Opened = AbstractContextManager[LabPage]


def open_lab(context: BrowserContext, server: LabServer, notebook: str, shots: Path) -> Opened:
    """A fresh copy of a lab, in a window of its own, with a kernel of its own that ends with it."""
    shutil.copyfile(labs_dir() / notebook, server.folder / notebook)
    return open_notebook(context, server, notebook, shots)


@contextmanager
def open_notebook(
    context: BrowserContext, server: LabServer, notebook: str, shots: Path
) -> Iterator[LabPage]:
    """A notebook that is in the learner's folder, opened in the same way."""
    page = context.new_page()
    page.add_init_script(path=SCRIPT)
    opened = LabPage(page, notebook, shots)
    page.on("console", lambda message: _note_console(opened, message))
    page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    page.on("request", lambda request: _note_request(opened, request))
    page.goto(server.address(notebook), timeout=LONGEST)
    opened.wait("ready")
    yield opened
    opened.ask("leave")
    page.close()


def _note_console(opened: LabPage, message: ConsoleMessage) -> None:
    if message.type == "error":
        opened.complaints.append(f"{message.text} ({message.location.get('url', '')})")


def _note_request(opened: LabPage, request: Request) -> None:
    if not THIS_COMPUTER.match(request.url):
        opened.abroad.append(request.url)
