"""The explorer and the chat panel, touched: a knob is moved, a message typed, a turn stopped; by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_page import LabPage, open_notebook
from lab_server import LabServer
from playwright.sync_api import BrowserContext, Locator, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]

CELLS = (
    'from labkit.widgets import chat_panel, close_all, explorer\nexplorer("medium", "safe-cut", limit=6000)',
    "panel = chat_panel(limit=6000)\npanel",
)
HELD = """
import threading
from comm import get_comm_manager
names = sorted(each.name for each in threading.enumerate() if "labkit chat" in each.name)
print(len(get_comm_manager().comms), *names)
"""


@pytest.fixture(scope="module")
def lab(window: BrowserContext, lab_server: LabServer, shots: Path) -> Iterator[LabPage]:
    """A notebook with both."""
    name = lab_server.write("widgets.ipynb", *CELLS)
    with open_notebook(window, lab_server, name, shots) as opened:
        opened.run_all()
        yield opened
        assert opened.complaints == []


@pytest.fixture
def explorer(lab: LabPage) -> Locator:
    """The explorer, as it is at the start."""
    lab.run(0)
    shown = lab.output(0).locator(".labkit-explorer")
    expect(shown).to_be_visible()
    return shown


@pytest.fixture
def chat(lab: LabPage) -> Locator:
    """A chat that has not begun."""
    lab.run(1)
    shown = lab.output(1).locator(".labkit-chat")
    expect(shown).to_be_visible()
    return shown


def changed(parts: list[Locator], before: list[str]) -> None:
    """Wait until each part shows something else than before."""
    for part, old in zip(parts, before, strict=True):
        expect(part).not_to_have_js_property("innerHTML", old)


def parts_of(explorer: Locator) -> list[Locator]:
    """Chart, strip and totals."""
    return [explorer.locator(f".labkit-explorer-{name}") for name in ("growth", "strip", "totals")]


def test_an_explorers_knob_moves_chart_strip_and_totals(lab: LabPage, explorer: Locator) -> None:
    for theme in ("Dark", "Light"):
        lab.theme(theme)
        lab.shoot(f"explorer_{theme.lower()}", explorer)
    before = [part.inner_html() for part in parts_of(explorer)]
    knob = explorer.get_by_role("slider", name="limit")
    knob.focus()
    for _ in range(3):
        lab.page.keyboard.press("PageDown")
    changed(parts_of(explorer), before)
    lab.shoot("explorer_moved", explorer)


def test_an_explorers_knob_can_be_dragged(lab: LabPage, explorer: Locator) -> None:
    before = [part.inner_html() for part in parts_of(explorer)]
    knob = explorer.get_by_role("slider", name="keep")
    place = knob.bounding_box()
    assert place is not None
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    lab.page.mouse.move(x + 60, y, steps=6)
    lab.page.mouse.up()
    changed(parts_of(explorer), before)


def test_another_policy_has_knobs_of_its_own(explorer: Locator) -> None:
    growth, *_ = parts_of(explorer)
    before = growth.inner_html()
    expect(explorer.get_by_role("slider", name="threshold")).to_be_hidden()
    explorer.locator(".labkit-explorer-policy select").select_option(index=1)
    expect(explorer.get_by_role("slider", name="threshold")).to_be_visible()
    changed([growth], [before])


def test_the_next_compaction_is_a_click_away(explorer: Locator) -> None:
    _, strip, _ = parts_of(explorer)
    before = strip.inner_html()
    explorer.get_by_role("button", name="next compaction").click()
    changed([strip], [before])


def say(chat: Locator, text: str) -> None:
    """Type a message, and press Enter."""
    line = chat.locator(".labkit-chat-input input")
    line.click()
    line.page.keyboard.type(text)
    line.page.keyboard.press("Enter")


def test_a_chat_answers_with_its_calls_folded(lab: LabPage, chat: Locator) -> None:
    gauge = chat.locator(".labkit-chat-gauge")
    before = gauge.inner_html()
    say(chat, "Read `hello.txt` and tell me what it says.")
    expect(chat.locator(".labkit-chat-status")).to_contain_text("Done: 2 requests")
    expect(chat.locator(".labkit-chat-log")).to_contain_text(
        "only folder that the agent's file tools can touch"
    )
    call = chat.locator(".labkit-chat-call")
    expect(call).to_have_js_property("open", False)
    call.locator("summary").focus()
    lab.page.keyboard.press("Enter")
    expect(call).to_have_js_property("open", True)
    changed([gauge], [before])
    lab.shoot("chat", chat)


def test_stop_ends_a_turn_and_the_chat_goes_on(lab: LabPage, chat: Locator) -> None:
    lab.execute("from labkit.connect import understudy\nunderstudy().faults.add('slow', seconds=0.2)")
    say(chat, "What are you?")
    expect(chat.locator(".labkit-chat-agent")).to_contain_text("I am the")  # the text is streaming in
    lab.shoot("chat_streaming", chat)
    stop = chat.get_by_role("button", name="Stop")
    stop.focus()
    lab.page.keyboard.press("Enter")
    expect(chat.locator(".labkit-chat-stopped")).to_be_visible()
    expect(stop).to_be_disabled()
    say(chat, "What do you know?")
    expect(chat.locator(".labkit-chat-status")).to_contain_text("Done")
    assert (
        lab.execute("from labkit.messages import problems; print(problems(panel.agent.messages))") == "[]\n"
    )


def test_a_compaction_shows_itself_in_the_chat_and_on_the_strip(lab: LabPage, chat: Locator) -> None:
    for text in ("Read `big-article.md` and give its main point in three sentences.", "Read `hello.txt`."):
        say(chat, text)
        expect(chat.locator(".labkit-chat-user").last).to_contain_text(text)
        expect(chat.locator(".labkit-chat-status")).to_contain_text("Done")
    expect(chat.locator(".labkit-chat-compaction").last).to_contain_text("tokens became")
    expect(chat.locator(".labkit-chat-strip")).to_contain_text("before and after compaction")
    for theme in ("Dark", "Light"):
        lab.theme(theme)
        lab.shoot(f"chat_compaction_{theme.lower()}", chat)


def test_running_a_cell_again_leaves_one_widget_and_nothing_behind(
    lab: LabPage, explorer: Locator, chat: Locator
) -> None:
    before = lab.execute(HELD)
    lab.run(0)
    lab.run(1)
    assert lab.execute(HELD) == before
    expect(lab.page.locator(".labkit-explorer")).to_have_count(1)
    expect(lab.page.locator(".labkit-chat")).to_have_count(1)
