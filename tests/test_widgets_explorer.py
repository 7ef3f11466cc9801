"""The explorer, headless: it follows what is chosen, piles nothing up, and says all without widgets too."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import ipywidgets
import pytest

from labkit.charts.light import light_growth
from labkit.compaction import CountCompactor, FullCompactor, SafeCutCompactor, ToolStubs, two_tiers
from labkit.errors import SetupError
from labkit.messages import assistant, system, tool_call, tool_result, user
from labkit.policies import POLICIES
from labkit.replay import replay
from labkit.sessions import recorded
from labkit.widgets import Explorer, close_all, explorer
from labkit.widgets.settings import DEFAULTS, KNOBS

KNOB_NAMES = ("threshold", "keep", "limit", "batch")


@pytest.fixture(autouse=True)
def nothing_stays_open() -> Iterator[None]:
    yield
    close_all()


def open_widgets() -> int:
    # ipywidgets counts its own; the public list of them is deprecated and has no successor.
    return len(ipywidgets.widget._instances)


# --- it follows -------------------------------------------------------------------------------------------


def test_all_is_there_before_anything_was_touched() -> None:
    shown = explorer("small", limit=3000)
    assert "<svg" in shown.growth.value and "<svg" in shown.strip.value
    assert "limit 3,000" in shown.growth.value
    assert f"{shown.view.outcome.trace.sent:,}" in shown.totals.value


@pytest.mark.parametrize(
    ("policy", "knobs", "hooks"),
    [
        ("count", {"threshold": 15, "keep": 4}, {"after_turn": CountCompactor(15, 4)}),
        ("safe-cut", {"limit": 4000, "keep": 5}, {"before_request": SafeCutCompactor(4000, 5)}),
    ],
)
def test_the_totals_are_those_of_a_replay_with_these_settings(policy, knobs, hooks) -> None:
    shown = explorer("medium", policy)
    for name, value in knobs.items():
        shown.knobs[name].value = value
    trace = replay(recorded("medium"), **hooks)
    for figure in (trace.sent, trace.cached, trace.peak, trace.re_reads):
        assert f">{figure:,}</td>" in shown.totals.value
    assert shown.view.outcome.trace.table() == trace.table()


def test_the_two_tiers_are_replayed_without_a_file_and_to_the_same_figures(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = explorer("medium", "two-tier", limit=3000, batch=250)
    full = FullCompactor(3000, folder=tmp_path / "elsewhere" / ".memory")
    trace = replay(recorded("medium"), **two_tiers(ToolStubs(3, batch_tokens=250), full))
    assert [each.tokens for each in shown.view.outcome.requests] == [each.tokens for each in trace.requests]
    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere"]


def test_each_knob_changes_what_is_drawn() -> None:
    for policy, knob, value in (
        ("count", "threshold", 12),
        ("count", "keep", 11),
        ("safe-cut", "limit", 3000),
        ("safe-cut", "keep", 9),
        ("two-tier", "limit", 2000),
        ("two-tier", "keep", 8),
        ("two-tier", "batch", 1000),
        ("off", "limit", 9000),
    ):
        shown = explorer("medium", policy)
        before = shown.growth.value, shown.totals.value
        shown.knobs[knob].value = value
        assert (shown.growth.value, shown.totals.value) != before, (policy, knob)


def test_only_the_knobs_that_a_policy_has_are_enabled() -> None:
    shown = explorer("small")
    for policy in POLICIES:
        shown.policy.value = policy
        assert {name for name in KNOB_NAMES if not shown.knobs[name].disabled} == set(KNOBS[policy])


def test_each_policy_keeps_its_own_knobs() -> None:
    shown = explorer("medium", "count", threshold=33)
    shown.policy.value = "safe-cut"
    shown.knobs["keep"].value = 9
    shown.policy.value = "count"
    assert (shown.settings.threshold, shown.settings.keep) == (33, 6)
    shown.policy.value = "safe-cut"
    assert shown.settings.keep == 9


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_begins_as_its_source_has_it(policy) -> None:
    assert explorer("large", policy).settings == DEFAULTS[policy]


def test_another_session_is_shown_with_ranges_of_its_own() -> None:
    shown = explorer("small")
    narrow = shown.knobs["limit"].max
    shown.session.value = "medium"
    assert shown.knobs["limit"].max > narrow
    assert shown.request.max == len(replay(recorded("medium")).requests)
    assert "session medium" in str(shown).lower()


def test_the_strip_is_that_of_the_chosen_request() -> None:
    shown = explorer("medium", "count")
    shown.request.value = 5
    sent = len(shown.view.outcome.requests[4].messages)
    assert f"in {sent} messages" in shown.strip.value and "Request 5" in shown.strip.value
    assert "request 5:" in shown.growth.value


def test_at_a_compaction_the_strip_shows_before_and_after() -> None:
    shown = explorer("medium", "count")
    assert shown.request.value == shown.view.outcome.compactions[0]
    assert "before:" in shown.strip.value and "summarised:" in shown.strip.value


def test_the_buttons_go_from_compaction_to_compaction() -> None:
    shown = explorer("medium", "count")
    first, second, *rest = shown.view.outcome.compactions
    assert shown.previous.disabled
    shown.next.click()
    assert shown.request.value == second
    for _ in rest:
        shown.next.click()
    assert shown.next.disabled
    shown.request.value = second
    shown.previous.click()
    assert shown.request.value == first


def test_a_history_of_ones_own_also_one_that_a_provider_would_reject() -> None:
    calls = [tool_call("a", "read_file", {"path": "a.md"}), tool_call("b", "read_file", {"path": "b.md"})]
    broken = [
        system("s"),
        user("go"),
        assistant(calls=calls),
        tool_result("a", "text " * 400),
        assistant("ok"),
    ]
    shown = explorer([*broken, user("on"), assistant("done")], "safe-cut", limit=100)
    assert len(shown.view.outcome.requests) == 3
    for place in (1, 2, 3):
        shown.request.value = place
        assert "<svg" in shown.strip.value


def test_an_empty_history_is_said_to_be_one() -> None:
    shown = explorer([])
    assert "no requests yet" in str(shown) and "No requests yet" in shown.growth.value


def test_names_and_values_that_are_not_known_say_what_there_is() -> None:
    with pytest.raises(SetupError, match="small, medium, large"):
        explorer("huge")
    with pytest.raises(SetupError, match="safe-cut"):
        explorer("small", "shrink")
    with pytest.raises(ValueError, match="negative"):
        explorer("small", limit=-1)


# --- it is for everybody ----------------------------------------------------------------------------------


def test_every_control_has_a_visible_description() -> None:
    shown = explorer("small")
    controls = [shown.session, shown.policy, shown.request, shown.previous, shown.next, *shown.knobs.values()]
    assert all(control.description for control in controls)
    assert len({control.description for control in controls}) == len(controls)


def test_the_chart_says_itself_in_words() -> None:
    trace = replay(recorded("medium"), after_turn=CountCompactor())
    chart = light_growth(trace.requests, limit=6000, chosen=3)
    assert 'role="img"' in chart and "Compaction came before request 19" in chart
    assert f"Pointed out: request 3 with {trace.requests[2].tokens:,} tokens" in chart
    assert chart == light_growth(trace.requests, limit=6000, chosen=3)


def test_a_page_without_widgets_gets_the_same_picture_and_table() -> None:
    shown = explorer("medium", "count")
    bundle = shown._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    for drawn in (shown.growth.value, shown.strip.value, shown.totals.value):
        assert drawn in bundle["text/html"]
    assert f"{shown.view.outcome.trace.sent:,}" in bundle["text/plain"]
    assert "Request 19" in bundle["text/plain"]


def test_the_text_is_the_same_each_time() -> None:
    first = explorer("medium", "two-tier")._repr_mimebundle_()
    second = explorer("medium", "two-tier")._repr_mimebundle_()
    assert (first["text/plain"], first["text/html"]) == (second["text/plain"], second["text/html"])


def test_what_a_session_says_cannot_become_markup() -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    shown = explorer(
        [system(evil), user(evil), assistant(evil), user("b"), assistant("c")], "count", threshold=3
    )
    page = shown._repr_mimebundle_()["text/html"]
    assert "<script" not in page and "<img" not in page and "&lt;script" in page


# --- nothing piles up -------------------------------------------------------------------------------------


def moves(shown: Explorer) -> Iterator[None]:
    """Moves of every control, and back."""
    for policy in POLICIES:
        shown.policy.value = policy
        yield
        for name in KNOBS[policy]:
            knob = shown.knobs[name]
            for value in (knob.min, knob.max, min(knob.min + 3 * knob.step, knob.max)):
                knob.value = value
                yield
        for place in (1, shown.request.max // 2, shown.request.max):
            shown.request.value = place
            yield


def test_500_moves_leave_memory_and_widgets_as_they_were() -> None:
    tracemalloc.start()
    shown = explorer("small")
    for _ in range(3):  # once through and more: caches fill
        for _ in moves(shown):
            pass
    gc.collect()
    widgets = open_widgets()
    before, count = tracemalloc.get_traced_memory()[0], 0
    while count < 500:
        for _ in moves(shown):
            count += 1
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert open_widgets() == widgets
    assert grown < 100_000, grown  # bytes: less than what two moves draw


def test_replays_that_are_kept_are_few() -> None:
    shown = explorer("small", "safe-cut")
    for value in range(shown.knobs["limit"].min, shown.knobs["limit"].min + 400, 10):
        shown.knobs["limit"].value = value
    assert len(shown._session._kept) <= 12


def test_opening_it_again_closes_the_one_before() -> None:
    explorer("small")
    gc.collect()
    widgets = open_widgets()
    for _ in range(3):
        again = explorer("small")
    assert open_widgets() == widgets
    explorer("small", name="another")
    assert open_widgets() > widgets
    again.close()


def test_closing_leaves_no_widget() -> None:
    widgets = open_widgets()
    shown = explorer("small")
    assert open_widgets() > widgets
    shown.close()
    assert open_widgets() == widgets
