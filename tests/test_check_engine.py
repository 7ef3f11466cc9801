"""Checks that teach: what a learner's function may do, and what the card says of it."""

from __future__ import annotations

import gc
import re
import sys
import threading
from functools import partial

import pytest

from labkit.checks import check, hint, is_borrowed, progress, question, quiz, right, solution, wrong
from labkit.checks.attempt import Attempt
from labkit.checks.card import Card
from labkit.checks.engine import Verdict, run
from labkit.checks.ideas import Exercise, case
from labkit.checks.registry import find
from labkit.checks.shrink import shrink
from labkit.errors import LabkitError
from labkit.messages import assistant, system, text_of, tool_call, tool_result, user
from labkit.tokens import estimate_tokens

ROUNDED = Exercise("1.1", "labkit.tokens:estimate_tokens")


@ROUNDED.idea("first", "The first idea", rule="Rule one.", step="Step one.", cases=[[user("four")]])
def first_idea(t: Attempt, history: list) -> None:
    t.equal(t.call(history), t.answer(history))


@ROUNDED.idea(
    "calls",
    "The second idea",
    rule="Rule two.",
    step="Step two.",
    cases=[
        [
            system("Be brief."),
            user("Read both."),
            assistant(None, [tool_call("a", "read", '{"path": "x"}')]),
            tool_result("a", "text"),
            user("Thanks, and now?"),
            assistant("Done."),
        ]
    ],
)
def second_idea(t: Attempt, history: list) -> None:
    t.equal(t.call(history), t.answer(history))


def right_answer(messages, chars_per_token=2):
    return estimate_tokens(messages, chars_per_token)


def text_only(messages, chars_per_token=2):
    return -(-sum(len(text_of(message["content"])) for message in messages) // chars_per_token)


def judged(function, seconds: float = 0.2) -> Verdict:
    return run(ROUNDED, function, seconds)


def card(function, seconds: float = 0.2) -> str:
    return str(Card(judged(function, seconds)))


def kind(function, seconds: float = 0.2) -> str:
    broken = judged(function, seconds).broken
    assert broken is not None
    return broken.kind


# -- what passes, what is a stub, what is labkit's


def test_a_right_answer_of_any_name_passes() -> None:
    assert judged(right_answer).state == "passed"
    assert (
        judged(lambda messages, chars_per_token=2: estimate_tokens(messages, chars_per_token)).state
        == "passed"
    )
    assert judged(partial(right_answer)).state == "passed"


def test_a_stub_is_not_started_and_no_error() -> None:
    def stub(messages, chars_per_token=2):
        raise NotImplementedError("1.1: Write me.")

    verdict = judged(stub)
    assert verdict.state == "not started"
    assert verdict.broken is None
    assert "not started" in str(Card(verdict))


def test_another_not_implemented_error_is_a_mistake_like_any_other() -> None:
    def other(messages, chars_per_token=2):
        raise NotImplementedError("later")

    assert judged(other).state == "borrowed"
    assert "NotImplementedError: later" in card(other)


def test_labkits_own_function_is_borrowed_not_passed() -> None:
    verdict = judged(estimate_tokens)
    assert (verdict.state, verdict.own) == ("borrowed", False)


# -- the card of a broken idea


def test_a_card_says_what_was_tried_expected_came_the_rule_and_one_step() -> None:
    names = [name for name, _ in Card(judged(text_only)).rows]
    assert names == ["tried", "expected", "came", "rule", "next step"]
    text = card(text_only)
    assert "Idea 2 of 2: The second idea" in text
    assert "Rule two." in text
    assert "Step two." in text


def test_the_check_stops_at_the_first_broken_idea() -> None:
    assert "The first idea" in card(lambda messages, chars_per_token=2: 0)
    assert "The second idea" not in card(lambda messages, chars_per_token=2: 0)


def test_the_failing_history_is_shrunk_to_the_exchange_that_matters() -> None:
    broken = judged(text_only).broken
    assert broken is not None
    assert broken.history is not None
    assert [message["role"] for message in broken.history] == ["assistant", "tool"]
    assert '0 assistant None read({"path": "x"})' in card(text_only)


def test_a_strip_of_the_failing_history_is_on_the_card() -> None:
    assert "<svg" in Card(judged(text_only))._repr_html_()


def test_the_place_is_marked_in_the_drawing_and_in_the_text() -> None:
    marked = Exercise("1.1", "labkit.tokens:estimate_tokens")

    @marked.idea("place", "A place", rule="A rule.", step="A step.", cases=[[user("one"), assistant("two")]])
    def place(t: Attempt, history: list) -> None:
        t.call(history)
        t.fail("that", "this", at=1)

    shown = Card(run(marked, right_answer))
    assert "->  1 assistant 'two'" in str(shown)
    assert ">here<" in shown._repr_html_()


def test_html_and_text_say_the_same() -> None:
    shown = Card(judged(text_only), ("Look at the calls.", "Their arguments."), 1)
    html = re.sub(r"<[^>]+>", " ", shown._repr_html_())
    for _, text in shown.rows:
        assert text in str(shown)
        assert text in html.replace("&#x27;", "'").replace("&quot;", '"').replace("&gt;", ">")
    bundle = shown._repr_mimebundle_()
    assert bundle["text/plain"] == str(shown)
    assert bundle["text/html"] == shown._repr_html_()


def test_a_learners_text_cannot_become_html() -> None:
    def nasty(messages, chars_per_token=2):
        print("<script>alert(1)</script>")
        return "<img src=x>"

    html = Card(judged(nasty))._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html


def test_the_state_is_in_words_and_every_colour_has_a_theme_variable() -> None:
    html = Card(judged(text_only))._repr_html_()
    assert "not yet" in html
    assert re.findall(r"(?<!, )#[0-9a-f]{6}", re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL)) == []


def test_a_card_is_the_same_each_time() -> None:
    assert Card(judged(text_only))._repr_html_() == Card(judged(text_only))._repr_html_()


def test_hints_lie_folded_one_inside_the_other() -> None:
    html = Card(judged(text_only), ("First, look.", "Then, look again."))._repr_html_()
    steps = ["Hint 1 of 2", "First, look", "Hint 2 of 2", "Then, look", "</details></details>"]
    places = [html.index(step) for step in steps]
    assert places == sorted(places)
    assert "hint(&quot;1.1&quot;)" in html


# -- what a function may do to us


def test_an_exception_is_shown_with_the_learners_own_line_and_no_traceback() -> None:
    def helper(message):
        return message["context"]

    def raises(messages, chars_per_token=2):
        return len(helper(messages[0]))

    text = card(raises)
    assert "KeyError: 'context'" in text
    assert 'of your cell: return message["context"]' in text
    assert "Traceback" not in text


def test_a_misspelt_name_is_the_step_not_the_idea() -> None:
    def misspelt(messages, chars_per_token=2):
        return len(mesages)  # noqa: F821  (the misspelling is the case)

    assert "NameError" in card(misspelt)
    assert "misspelling" in card(misspelt)
    assert "Step one." not in card(misspelt)


def test_an_endless_loop_is_stopped_and_named() -> None:
    def endless(messages, chars_per_token=2):
        while True:
            pass

    assert kind(endless) == "endless"
    assert "stopped after 0.2 seconds" in card(endless)


def test_the_limit_is_five_seconds() -> None:
    from labkit.checks.guard import SECONDS

    assert SECONDS == 5


def test_code_that_catches_everything_is_stopped_too() -> None:
    def stubborn(messages, chars_per_token=2):
        while True:
            try:  # noqa: SIM105  (the bare except is the case)
                threading.Event().wait(60)
            except:  # noqa: E722  (the bare except is the case)
                pass

    def polite(messages, chars_per_token=2):
        while True:
            try:
                len(messages)
            except Exception:
                continue

    assert kind(stubborn) == "endless"
    assert kind(polite) == "endless"
    assert "labkit" not in getattr(sys.gettrace(), "__module__", "")
    assert "labkit" not in getattr(sys.getprofile(), "__module__", "")


def test_away_from_the_main_thread_an_endless_loop_is_stopped_too_and_no_thread_stays() -> None:
    def endless(messages, chars_per_token=2):
        while True:
            pass

    def stubborn(messages, chars_per_token=2):
        while True:
            try:  # noqa: SIM105  (the bare except is the case)
                threading.Event().wait(0.01)
            except:  # noqa: E722  (the bare except is the case)
                pass

    kinds: list[str] = []
    before = threading.active_count()
    thread = threading.Thread(target=lambda: kinds.extend([kind(endless), kind(stubborn)]))
    thread.start()
    thread.join()
    assert kinds == ["endless", "endless"]
    assert threading.active_count() == before


def test_a_timer_that_somebody_else_set_goes_on() -> None:
    signal = pytest.importorskip("signal")  # no timers without it
    if not hasattr(signal, "setitimer"):
        return  # Windows has no such timer to disturb
    before = signal.setitimer(signal.ITIMER_REAL, 100)
    try:
        judged(right_answer)
        left, _ = signal.getitimer(signal.ITIMER_REAL)
        assert 0 < left <= 100
    finally:
        signal.setitimer(signal.ITIMER_REAL, *before)


def test_a_loop_that_fills_the_memory_is_stopped_and_named() -> None:
    def growing(messages, chars_per_token=2):
        kept = []
        while True:
            kept.append(bytes(2**24))

    assert kind(growing, seconds=30) == "memory"


def test_endless_recursion_is_named() -> None:
    def again(messages, chars_per_token=2):
        return again(messages, chars_per_token)

    gc.disable()  # hypothesis listens to the collector, and its listener would meet the end of the stack
    try:
        assert kind(again, seconds=30) == "recursion"
        assert "called itself" in card(again)
    finally:
        gc.enable()


def test_leaving_python_is_caught_and_named() -> None:
    assert kind(lambda messages, chars_per_token=2: sys.exit(3)) == "exit"


def test_the_stop_button_stays_the_learners() -> None:
    def stopped(messages, chars_per_token=2):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judged(stopped)


def test_what_a_function_prints_is_folded_and_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    def chatty(messages, chars_per_token=2):
        print("look: " + "x" * 100_000)
        return right_answer(messages, chars_per_token)

    verdict = judged(chatty)
    assert verdict.state == "passed"
    assert capsys.readouterr().out == ""
    assert "look: x" in str(Card(verdict))
    assert len(Card(verdict)._repr_html_()) < 10_000


def test_a_function_that_changes_its_input_is_found_without_an_idea_for_it() -> None:
    def empties(messages, chars_per_token=2):
        answer = right_answer(messages, chars_per_token)
        messages.clear()
        return answer

    def deep(messages, chars_per_token=2):
        answer = right_answer(messages, chars_per_token)
        messages[0]["content"] = ""
        return answer

    assert kind(empties) == "changed-input"
    assert kind(deep) == "changed-input"


@pytest.mark.parametrize("thing", [None, 7, "text", [], dict, int])
def test_what_is_no_function_gets_a_clear_card(thing: object) -> None:
    verdict = judged(thing)
    assert verdict.state == "borrowed"
    assert "estimate_tokens" in str(Card(verdict))
    assert verdict.broken is not None
    assert verdict.broken.kind in ("callable", "count")


def test_a_wrong_signature_is_shown_beside_the_right_one() -> None:
    text = card(lambda history: 0)
    assert "estimate_tokens(messages, chars_per_token=2)" in text
    assert "<lambda>(history)" in text


def test_a_generator_and_an_async_function_are_named() -> None:
    def yields(messages, chars_per_token=2):
        yield 1

    async def waits(messages, chars_per_token=2):
        return 1

    assert "written with yield" in card(yields)
    assert "written with async" in card(waits)


def test_a_forgotten_return_is_named() -> None:
    def silent(messages, chars_per_token=2):
        right_answer(messages, chars_per_token)

    assert "without return gives None" in card(silent)


def test_an_answer_that_the_idea_cannot_even_read_is_a_card() -> None:
    reader = Exercise("1.1", "labkit.tokens:estimate_tokens")

    @reader.idea("reads", "It reads", rule="A rule.", step="A step.", cases=[[user("four")]])
    def reads(t: Attempt, history: list) -> None:
        assert t.call(history).bit_length() > 0

    verdict = run(reader, lambda messages, chars_per_token=2: "two")
    assert verdict.state == "borrowed"
    assert "'two'" in str(Card(verdict))


def test_an_object_that_cannot_be_shown_is_a_card_too() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert "cannot be shown" in card(lambda messages, chars_per_token=2: Odd())


# -- ideas, cases, attempts


def test_each_call_gets_fresh_copies() -> None:
    seen: list[int] = []

    def remembers(messages, chars_per_token=2):
        seen.append(id(messages))
        return right_answer(messages, chars_per_token)

    judged(remembers)
    assert len(seen) == 2


def test_several_functions_are_checked_together() -> None:
    pair = Exercise("1.1", "labkit.tokens:cached_tokens,estimate_tokens")

    @pair.idea("both", "Both", rule="A rule.", step="A step.", cases=[case(1300)])
    def both(t: Attempt, shared: int) -> None:
        t.equal(t.call(shared), t.answer(shared))
        t.equal(t.call_named("estimate_tokens", [user("four")]), 2)

    good = (lambda shared: 1280, right_answer)
    assert run(pair, good).state == "passed"
    assert "estimate_tokens(history of 1 message)" in str(
        Card(run(pair, (good[0], lambda messages, chars_per_token=2: 9)))
    )
    assert "(cached_tokens, estimate_tokens)" in str(Card(run(pair, good[0])))


def test_an_exception_that_is_asked_for_must_come() -> None:
    strict = Exercise("1.1", "labkit.tokens:cached_tokens")

    @strict.idea("refuses", "It refuses", rule="A rule.", step="A step.")
    def refuses(t: Attempt) -> None:
        assert str(t.raises(ValueError, -1)) == "negative"

    def refusing(shared):
        raise ValueError("negative")

    assert run(strict, refusing).state == "passed"
    assert "expected   ValueError is raised" in str(Card(run(strict, lambda shared: 0)))


def test_two_ideas_may_not_share_an_id() -> None:
    with pytest.raises(ValueError, match="two ideas 'first'"):
        ROUNDED.idea("first", "Again", rule="", step="")(first_idea)


def test_shrinking_is_bounded() -> None:
    asked: list[int] = []

    def breaks(items: list) -> bool:
        asked.append(len(items))
        return len(items) >= 150

    assert len(shrink(list(range(200)), breaks, tries=40)) >= 150
    assert len(asked) <= 40


# -- check, hint, solution


def test_check_returns_the_learners_function_if_it_passes_else_labkits() -> None:
    assert check("1.1", right_answer) is right_answer
    assert check("1.1", text_only) is estimate_tokens
    assert is_borrowed(estimate_tokens)
    assert not is_borrowed(right_answer)


def test_check_shows_its_card_as_text_outside_a_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    check("1.1", text_only)
    shown = capsys.readouterr().out
    assert shown.startswith("✗ Exercise 1.1: not yet, labkit's own function is borrowed")


def test_running_a_check_cell_twice_is_not_passing_it(capsys: pytest.CaptureFixture[str]) -> None:
    def stub(messages, chars_per_token=2):
        raise NotImplementedError("1.1: Write me.")

    function = check("1.1", stub)
    check("1.1", function)
    assert progress.record_of("1.1").state == "not started"
    assert not progress.record_of("1.1").passed
    assert "borrowed" in capsys.readouterr().out


def test_an_unknown_exercise_names_the_nearest() -> None:
    with pytest.raises(LabkitError, match=r"no exercise '1\.11'.*'1\.1'"):
        check("1.11", right_answer)
    with pytest.raises(LabkitError, match="Did you mean"):
        find("nonsense")


def test_solution_shows_labkits_source_and_is_noted() -> None:
    assert "def estimate_tokens(" in str(solution("1.1"))
    assert progress.record_of("1.1").solution


def test_hints_open_one_by_one_and_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.checks.catalogue.hints_of", lambda exercise: ("Look.", "Look again."))
    assert "hint 1 of 2" in str(hint("1.1"))
    second = str(hint("1.1"))
    assert "1. Look." in second
    assert "2. Look again." in second
    assert progress.record_of("1.1").hints == 2
    hint("1.1")
    assert progress.record_of("1.1").hints == 2


# -- questions


def test_questions_read_by_keyboard_and_without_html() -> None:
    shown = quiz(question("Who <b>?", wrong("A", "because a"), right("B", "because b")))
    assert shown._repr_html_().count("<details") == 2
    assert "<b>" not in shown._repr_html_()
    assert str(shown).index("b) B") < str(shown).index("Answers") < str(shown).index("1b) Right. because b")


def test_a_question_needs_an_answer_that_is_right() -> None:
    with pytest.raises(ValueError, match="one that is right"):
        question("Who?", wrong("A", "no"), wrong("B", "no"))
