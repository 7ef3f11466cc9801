"""What people read from us, looked at by axe-core in a browser: no serious finding, at any width or theme.

Looked at are all pages of the site (with the notebooks' outputs in them) and README, as a page. Everything
that is folded is unfolded first: what nobody sees at first must be sound, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browser_tools import open_browser
from site_tools import ROOT, made_site

from labkit.notebooks import execute
from labkit.site.lab_page import lab_page
from labkit.site.pages import framed
from labkit.site.prose import Prose

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]

VIEWS = {
    "phone, light": ({"width": 390, "height": 844}, "light"),
    "phone, dark": ({"width": 390, "height": 844}, "dark"),
    "desktop, light": ({"width": 1200, "height": 900}, "light"),
    "desktop, dark": ({"width": 1200, "height": 900}, "dark"),
}
PAGES = [
    "index.html",
    "glossary.html",
    "troubleshooting.html",
    "README.html",
    "outputs.html",
    *sorted(f"{path.stem}.html" for path in (ROOT / "labs").glob("0*.ipynb")),
]
SERIOUS = ("serious", "critical")

# The widest thing on the page that neither fits nor stands in a box which scrolls.
WIDE = """() => [...document.querySelectorAll('body *')]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && e.checkVisibility())
    .filter(e => { for (let up = e; up; up = up.parentElement)
        if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(up).overflowX)) return false;
        return true; })
    .map(e => e.outerHTML.slice(0, 120))"""

# Looked at is each kind of thing: the colour of a word of code depends on its class alone, and a table's rows
# are alike. axe-core's time grows with the number of texts, of which a lab's page has ten thousand.
THINNED = """() => {
    const seen = {};
    for (const part of document.querySelectorAll('pre.code span'))
        if ((seen[part.className] = (seen[part.className] || 0) + 1) > 2)
            part.replaceWith(...part.childNodes);
    for (const table of document.querySelectorAll('table'))
        [...table.querySelectorAll('tbody tr')].slice(3).forEach(row => row.remove());
    document.querySelectorAll('pre').forEach(code => code.normalize());
}"""


# What a solved lab does not show: the cards of a check that is not passed, help, the board, and what stands
# in for the widgets.
OTHER_OUTPUTS = (
    "from labkit.checks import check, hint, progress_board, solution\n"
    "def split_history(messages, keep_last=6):\n"
    "    print('mine')\n"
    "    return [], messages[:-keep_last], messages[-keep_last:]",
    "split_history = check('3.1', split_history)",
    "from labkit.compaction.count import rebuild\nrebuild = check('3.3', rebuild)",
    "def legal_cuts(messages):\n    return [1 / 0]\nlegal_cuts = check('4.1', legal_cuts)",
    "def choose_cut(messages, keep_recent=2):\n    raise NotImplementedError\n"
    "choose_cut = check('4.2', choose_cut)",
    "hint('3.1')",
    "solution('3.1')",
    "progress_board()",
    "from labkit.widgets import chat_panel, explorer\nexplorer()",
    "from labkit.connect import connect\nfrom labkit.loop import Agent\nchat_panel(Agent(*connect()))",
)


def outputs_page() -> str:
    """A page of outputs that no lab's page has, run like any lab."""
    cells = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        for source in OTHER_OUTPUTS
    ]
    heading = {"cell_type": "markdown", "source": "# Outputs", "metadata": {}}
    notebook = {"cells": [heading, *cells], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    ran = execute(notebook)
    assert ran.errors == ()
    return framed("Outputs", lab_page("outputs", notebook, ran.notebook).body)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    # Notebooks run before the browser opens: they and Playwright cannot share a thread's event loop.
    folder = made_site().folder
    readme = Prose().html((ROOT / "README.md").read_text(encoding="utf-8"))
    more = {"README.html": framed("README", readme), "outputs.html": outputs_page()}
    for name, html in more.items():
        (folder / name).write_text(html, encoding="utf-8")
    try:
        with open_browser() as opened:
            yield opened
    finally:
        for name in more:
            (folder / name).unlink()


@pytest.fixture(params=VIEWS)
def any_view(request: pytest.FixtureRequest, browser: Any) -> Iterator[Any]:
    yield from new_page(browser, *VIEWS[request.param])


@pytest.fixture(params=["phone, light", "desktop, light"])
def any_width(request: pytest.FixtureRequest, browser: Any) -> Iterator[Any]:
    yield from new_page(browser, *VIEWS[request.param])


@pytest.fixture
def view(browser: Any) -> Iterator[Any]:
    yield from new_page(browser, *VIEWS["phone, dark"])


def new_page(browser: Any, size: dict[str, int], scheme: str) -> Iterator[Any]:
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce", offline=True)
    yield context.new_page()
    context.close()


def findings(page: Any, impacts: tuple[str, ...] = SERIOUS) -> list[str]:
    """What axe-core says about a page, with the first places of each finding."""
    from axe_playwright_python.sync_playwright import Axe

    response = Axe().run(page, options={"resultTypes": ["violations"]}).response
    return [
        f"{found['impact']}: {found['id']}: {found['help']}: "
        + "; ".join(n["html"][:120] for n in found["nodes"][:3])
        for found in response["violations"]
        if found["impact"] in impacts
    ]


def unfold(page: Any) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(any_view, name):
    any_view.goto((made_site().folder / name).as_uri())
    unfold(any_view)
    any_view.evaluate(THINNED)
    assert findings(any_view) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_no_wider_than_the_screen(any_width, name):
    any_width.goto((made_site().folder / name).as_uri())
    unfold(any_width)
    assert any_width.evaluate("document.documentElement.scrollWidth") <= any_width.viewport_size["width"]
    assert any_width.evaluate(WIDE) == []


def test_axe_does_find_what_is_serious(view):
    view.set_content("<html lang=en><title>x</title><main><h1>x</h1><img src='x.png'></main></html>")
    assert any("image-alt" in found for found in findings(view))


def test_the_first_tab_stop_skips_to_the_text(view):
    view.goto((made_site().folder / "index.html").as_uri())
    view.keyboard.press("Tab")
    assert view.evaluate("document.activeElement.textContent") == "Skip to the text"
    view.keyboard.press("Enter")
    assert view.evaluate("document.activeElement.id") == "main"


def test_a_page_asks_for_nothing_but_itself(view):
    asked: list[str] = []
    view.on("request", lambda request: asked.append(request.url))
    address = (made_site().folder / "03_count_compaction.html").as_uri()
    view.goto(address)
    assert [url for url in asked if url != address and not url.startswith("data:")] == []
