"""Every lab in a real JupyterLab: Run All, then Run All again, in the light and in the dark theme."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lab_page import LabPage, open_lab
from lab_server import LabServer
from playwright.sync_api import BrowserContext, expect

from labkit.checks.catalogue import LabInfo, labs

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]

NO_WIDGET = ("model not found", "Error displaying widget", "Loading widget")
# Snapshots are named after the moment, and parts of a picture after its content.
NEW_NAME = re.compile(r"(?<=memory_)\d[\d_]*|\bl[cgk][0-9a-f]{10}\b")
TIMED = 'slowly = {"understudy"'  # the picture of a stream: when each fragment came, by the clock
TAG = re.compile(r"<[^>]*>")
WORD = re.compile(r"[A-Za-z]{3,}")
READABLE = 4.5  # contrast of text with what is behind it: WCAG 2, level AA
RESOURCES = """
import json, sys, threading
from comm import get_comm_manager
pyplot = sys.modules.get("matplotlib.pyplot")
print(json.dumps({
    "threads": sorted(thread.name for thread in threading.enumerate()),
    "figures": len(pyplot.get_fignums()) if pyplot else 0,
    "comms": len(get_comm_manager().comms),
}))
"""


@dataclass
class Ran:
    """A lab after Run All, and after another Run All in the same kernel."""

    about: LabInfo
    lab: LabPage
    first: list[dict[str, Any]]
    second: list[dict[str, Any]]
    held_first: dict[str, Any]
    held_second: dict[str, Any]

    @property
    def text(self) -> str:
        """All that the notebook shows, in words."""
        return self.lab.page.locator(".jp-Notebook").text_content() or ""


@pytest.fixture(scope="module", params=labs(), ids=lambda lab: lab.name)
def ran(
    request: pytest.FixtureRequest, window: BrowserContext, lab_server: LabServer, shots: Path
) -> Iterator[Ran]:
    about: LabInfo = request.param
    with open_lab(window, lab_server, about.path.name, shots) as lab:
        lab.run_all()
        first, held_first = outputs(lab), json.loads(lab.execute(RESOURCES))
        lab.run_all()
        second, held_second = outputs(lab), json.loads(lab.execute(RESOURCES))
        yield Ran(about, lab, first, second, held_first, held_second)


def outputs(lab: LabPage) -> list[dict[str, Any]]:
    """All outputs, each with the first line of its cell."""
    return [
        {"cell": cell["source"].split("\n")[0], **output}
        for cell in lab.cells()
        for output in cell["outputs"]
    ]


def test_run_all_ends_without_an_error(ran: Ran) -> None:
    both = ran.first + ran.second
    assert [
        output for output in both if output["output_type"] == "error" or output.get("name") == "stderr"
    ] == []


def test_the_browser_has_nothing_to_complain_about(ran: Ran) -> None:
    assert ran.lab.complaints == []


def test_a_lab_asks_nothing_of_the_network(ran: Ran) -> None:
    assert ran.lab.abroad == []


def test_no_widget_is_missing(ran: Ran) -> None:
    assert [words for words in NO_WIDGET if words in ran.text] == []


def test_explorer_and_chat_are_there_once_from_lab_3_on(ran: Ran) -> None:
    times = 1 if ran.about.number >= "03" else 0
    for name in ("explorer", "chat"):
        shown = ran.lab.page.locator(f".labkit-{name}")
        expect(shown).to_have_count(times)
        if times:
            ran.lab.shoot(name, shown)


def test_every_exercise_is_called_not_started(ran: Ran) -> None:
    assert ran.about.exercises
    for exercise in ran.about.exercises:
        assert f"Exercise {exercise.id}: not started" in ran.text


def test_every_picture_is_drawn_and_said_in_words(ran: Ran) -> None:
    pictures = ran.lab.ask("pictures")
    assert pictures
    assert [each for each in pictures if not each["drawn"] or not each["words"]] == []


def test_no_label_is_cut_off_or_lies_on_another(ran: Ran) -> None:
    pictures = ran.lab.ask("pictures")
    assert [each for each in pictures if each["cut"] or each["overlaps"]] == []


def test_the_second_run_shows_the_same_and_nothing_twice(ran: Ran) -> None:
    assert [output["cell"] for output in ran.second] == [output["cell"] for output in ran.first]
    pairs = [(shown(first), shown(second)) for first, second in zip(ran.first, ran.second, strict=True)]
    assert [difference(first, second) for first, second in pairs if first != second] == []


def shown(output: dict[str, Any]) -> str:
    """What an output shows, without what is new at each run: its number, names, and times of a clock."""
    data = {kind: text for kind, text in output.get("data", {}).items() if "widget" not in kind}
    text = NEW_NAME.sub("NAME", json.dumps([output["cell"], output.get("text"), data]))
    if output["cell"].startswith(TIMED):  # other times, other marks on the axis: the words are the same
        return " ".join(dict.fromkeys(WORD.findall(TAG.sub(" ", text))))
    return text


def difference(one: str, other: str) -> tuple[str, str]:
    """The start of both, and both around the first difference."""
    at = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return one[:60], f"{one[max(0, at - 60) : at + 60]} <> {other[max(0, at - 60) : at + 60]}"


def test_a_second_run_leaves_nothing_behind(ran: Ran) -> None:
    assert ran.held_second == ran.held_first


@pytest.mark.parametrize("theme", ["Dark", "Light"])
def test_all_outputs_can_be_read_in_the_theme(ran: Ran, theme: str) -> None:
    ran.lab.theme(theme)
    texts = ran.lab.ask("texts")
    faint = {each["words"]: each for each in texts if each["contrast"] < READABLE}
    ran.lab.shoot(f"{theme.lower()}_end")
    if os.environ.get("LABKIT_SCREENSHOTS"):
        ran.lab.shoot_all(theme.lower())
    assert len(texts) > 100
    assert faint == {}
