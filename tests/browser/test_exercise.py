"""Exercises as a learner meets them: a wrong answer, its card, the mended answer, a restart; by keyboard.

The tests share one page of lab 1 and one kernel; each has an exercise of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_page import LabPage, open_lab
from lab_server import LabServer
from playwright.sync_api import BrowserContext, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]

SET_UP = "from __future__ import annotations"
STUB = "raise NotImplementedError"
WRONG = 'return math.ceil(sum(len(m["content"]) for m in messages) / chars_per_token)'
RIGHT = """
return math.ceil(sum(len(text_of(m.get("content"))) + sum(len(function_of(c).get("arguments") or "")
for c in calls_of(m)) for m in messages) / chars_per_token)
"""


def answer_and_check(lab: LabPage, function: str, exercise: str) -> tuple[int, int]:
    """The places of an exercise's two cells, with the set-up cell run."""
    lab.run(lab.find(SET_UP))
    return lab.find(f"def {function}("), lab.find(f'check("{exercise}"')


@pytest.fixture(scope="module")
def lab(window: BrowserContext, lab_server: LabServer, shots: Path) -> Iterator[LabPage]:
    """Lab 1 with its set-up cell run."""
    with open_lab(window, lab_server, "01_minimal_loop.ipynb", shots) as opened:
        yield opened


def test_a_wrong_answer_is_explained_and_the_mended_one_passes(lab: LabPage) -> None:
    answer, check = answer_and_check(lab, "estimate_tokens", "1.1")
    lab.write(answer, STUB, WRONG)
    lab.run(answer)
    lab.run(check)
    card = lab.output(check)
    expect(card).to_contain_text("Exercise 1.1: not yet")
    for row in ("tried", "expected", "came", "rule", "next step"):
        expect(card.locator("th").get_by_text(row, exact=True)).to_be_visible()
    expect(card).not_to_contain_text("Traceback")
    expect(card.get_by_role("img")).to_be_visible()  # the history that failed, as a strip
    for theme in ("Dark", "Light"):
        lab.theme(theme)
        lab.shoot(f"card_{theme.lower()}", card)

    lab.write(answer, "return math.ceil", " ".join(RIGHT.split()))
    lab.run(answer)
    lab.run(check)
    expect(lab.output(check)).to_contain_text("Exercise 1.1: passed")
    lab.shoot("card_passed", lab.output(check))

    lab.restart()
    assert lab.execute("print('check' in globals())") == "False\n"
    board = lab.add_below(check, "from labkit.checks import progress_board; progress_board()")
    lab.run(board)
    row = lab.output(board).get_by_role("row").filter(has_text="estimate_tokens")
    expect(row).to_contain_text("passed")
    expect(lab.output(board)).to_contain_text("Next: 1.2 run_tool_call")
    lab.shoot("board", lab.output(board))


def test_an_endless_loop_is_ended_and_named(lab: LabPage) -> None:
    answer, check = answer_and_check(lab, "run_tool_call", "1.2")
    lab.write(answer, STUB, "while True: call = dict(call)")
    lab.run(answer)
    lab.run(check)
    expect(lab.output(check)).to_contain_text("Exercise 1.2: not yet")
    expect(lab.output(check)).to_contain_text("stopped after 5 seconds")
    lab.shoot("card_endless", lab.output(check))


def test_hints_and_questions_unfold_by_keyboard(lab: LabPage) -> None:
    answer, check = answer_and_check(lab, "run_turn", "1.3")
    lab.run(answer)
    lab.run(check)
    questions = lab.find("quiz(")
    lab.run(questions)
    for place in (check, questions):
        folded = lab.output(place).locator("details").first
        folded.locator("summary").first.focus()
        for is_open in (True, False, True):
            lab.page.keyboard.press("Space" if is_open else "Enter")
            expect(folded).to_have_js_property("open", is_open)
    lab.shoot("questions", lab.output(questions))
