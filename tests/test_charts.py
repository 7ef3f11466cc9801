"""Charts: they say what they found, nothing overlaps, they can be read in any theme and without eyes."""

from __future__ import annotations

import gc
import random
import re
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from odd_histories import session

from labkit.charts import (
    Chart,
    bill,
    by_role,
    count_against_tokens,
    curves,
    drop_off,
    estimates,
    growth,
    policies,
    said_against_sent,
    save,
    sawtooth,
    sweep,
)
from labkit.compaction.base import Compaction
from labkit.messages import Message, assistant, system, user
from labkit.replay import replay
from labkit.tokens import estimate_tokens, shared_counter
from labkit.trace import RequestRecord, Trace

SVG = "{http://www.w3.org/2000/svg}"


def struck() -> Compaction:
    return Compaction([], True, "folded", 10, 5)


def trace_of(
    tokens: list[int], cached: list[int] | None = None, compactions: set[int] = frozenset()
) -> Trace:
    """A trace with these tokens for its requests; the compactions came before these (from 1)."""
    trace = Trace()
    for index, count in enumerate(tokens, start=1):
        was_cached = cached[index - 1] if cached else 0
        record = RequestRecord(
            index, count, was_cached, 5, {"user": count}, [], struck() if index in compactions else None
        )
        trace.requests.append(record)
    return trace


def halving(messages: list[Message]) -> Compaction:
    """A policy for tests: over 3,000 tokens, the second half behind one summary."""
    tokens = shared_counter().history(messages)
    if tokens < 3000:
        return Compaction(messages, False, "small", tokens, tokens)
    shorter = [messages[0], user("[Earlier in this task] Much was done."), *messages[-2:]]
    return Compaction(shorter, True, "halved", tokens, shared_counter().history(shorter))


LONG = session(80)
PLAIN, HALVED = replay(LONG), replay(LONG, after_turn=halving)
CHARTS = {
    "growth": lambda: growth(PLAIN, limit=3000, estimate=estimate_tokens),
    "growth with compaction": lambda: growth(HALVED, limit=3000),
    "drop_off": lambda: drop_off(LONG[:40], LONG[:1] + LONG[30:40]),
    "estimated drop_off": lambda: drop_off(LONG[:40], LONG[:1] + LONG[30:40], estimate=estimate_tokens),
    "bill": lambda: bill(HALVED),
    "policies": lambda: policies({"none": PLAIN, "halved 对半": HALVED}, limit=3000),
    "said_against_sent": lambda: said_against_sent(PLAIN),
    "curves": lambda: curves({"none": PLAIN, "halved 对半": HALVED}, limit=3000),
    "count_against_tokens": lambda: count_against_tokens({"long": LONG, "short": LONG[:9]}, 20, 6000),
    "sawtooth": lambda: sawtooth(HALVED, threshold=20),
    "by_role": lambda: by_role(PLAIN, limit=3000),
    "estimates": lambda: estimates(
        {"English": "one word after another " * 40, "中文": "一个字接着一个字" * 40}
    ),
    "sweep": lambda: sweep({1000: HALVED, 3000: PLAIN, 3001: PLAIN}),
}
every_chart = pytest.mark.parametrize("make", CHARTS.values(), ids=CHARTS)


def boxes(figure: Figure) -> list[tuple[str, object]]:
    """Every visible text of a figure that says something, with the room it takes."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    hidden = outside(figure)
    shown = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    shown = [text for text in shown if text not in hidden]
    return [(text.get_text(), text.get_window_extent(canvas.get_renderer())) for text in shown]


def outside(figure: Figure) -> list[Text]:
    """The labels of ticks beyond the ends of an axis: matplotlib keeps them and does not draw them."""
    found = []
    for axis in [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]:
        low, high = sorted(axis.get_view_interval())
        ticks = [tick for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high]
        found += [label for tick in ticks for label in (tick.label1, tick.label2)]
    return found


def overlaps(figure: Figure) -> list[tuple[str, str]]:
    found = boxes(figure)
    return [
        (one, other)
        for place, (one, first) in enumerate(found)
        for other, second in found[place + 1 :]
        if first.x0 < second.x1 and second.x0 < first.x1 and first.y0 < second.y1 and second.y0 < first.y1
    ]


# --- findings ---------------------------------------------------------------------------------------------


def test_growth_says_how_much_larger_the_last_request_was():
    assert growth(trace_of([1398, 3000, 7412])).title == "Request 3 sent 7,412 tokens, 5.3 times request 1"


def test_growth_says_how_often_compaction_struck_and_how_many_requests_were_over_the_limit():
    title = growth(trace_of([100, 900, 200, 700], compactions={3}), limit=600).title
    assert title.startswith("Compaction struck once; the largest request, 2 of 4, sent 900 tokens")
    assert title.endswith("; 2 of 4 requests over the limit of 600")


def test_growth_labels_a_drop_with_both_figures():
    figure = growth(trace_of([100, 900, 200, 300], compactions={3})).figure
    assert "900 → 200" in [text for text, _ in boxes(figure)]


def test_growth_marks_exactly_the_requests_that_compaction_came_before():
    axes = growth(trace_of([100, 900, 200, 300], compactions={3})).figure.axes[0]
    (marks,) = [line for line in axes.lines if line.get_label() == "compaction before this request"]
    assert list(marks.get_xdata()) == [3]


def test_an_estimate_is_marked_as_one():
    chart = growth(PLAIN, estimate=estimate_tokens)
    assert "≈ estimate" in [text for text, _ in boxes(chart.figure)]
    assert chart.table[3]["≈ estimate"] == estimate_tokens(PLAIN.requests[3].messages)


def test_estimates_that_do_not_fit_the_trace_are_refused_in_words():
    with pytest.raises(ValueError, match="2 estimates for 3 requests"):
        growth(trace_of([1, 2, 3]), estimate=[1, 2])


def test_the_bill_adds_up():
    chart = bill(trace_of([2000, 3000, 4000], cached=[0, 1920, 2944]))
    assert chart.title == "3 requests sent 9,000 tokens in all: 4,136 fresh, 4,864 cached (54 %)"
    assert chart.table[-1]["sent so far"] == 9000


def test_what_was_said_is_each_message_once_and_what_was_sent_is_all_of_it_each_time():
    counter = shared_counter()
    chart = said_against_sent(PLAIN)
    last = PLAIN.requests[-1].messages
    assert chart.table[-1]["said so far"] == sum(counter.message(message) for message in last)
    assert chart.table[-1]["sent so far"] == sum(request.tokens for request in PLAIN.requests)


def test_what_compaction_folds_stays_said():
    said = [row["said so far"] for row in said_against_sent(HALVED).table]
    assert said == sorted(said)
    assert said[-1] > HALVED.peak


def test_the_drop_names_both_totals_and_splits_them_by_role():
    counter = shared_counter()
    before = [system("s"), user("word " * 400), assistant("fine")]
    after = [system("s"), user("[Earlier in this task] Words."), assistant("fine")]
    chart = drop_off(before, after)
    totals = [sum(map(counter.message, history)) for history in (before, after)]
    assert f"From {totals[0]} to {totals[1]} tokens" in chart.title
    rows = {row["role"]: row for row in chart.table}
    assert rows["all"]["saved"] == sum(row["saved"] for role, row in rows.items() if role != "all")
    assert rows["summary"]["before"] == 0 and rows["summary"]["after"] == counter.message(after[1])


def test_an_estimated_drop_is_marked_throughout():
    chart = drop_off([user("word " * 400)], [user("word")], estimate=estimate_tokens)
    assert "From ≈ 1,000 to ≈ 2 tokens" in chart.title
    assert {"≈ before", "≈ after"} <= set(chart.table[0])


def test_policies_are_compared_by_what_they_sent():
    few, many = trace_of([400, 500], cached=[0, 100], compactions={2}), trace_of([1000, 2000])
    chart = policies({"many": many, "few": few}, limit=1500)
    assert chart.title == "“few” sent 900 tokens, 70 % less than “many”"
    many, few = chart.table
    assert (many["sent"], many["cached"], many["peak"], many["over the limit"]) == (3000, 0, 2000, 1)
    assert (few["fresh"], few["compactions"]) == (800, 1)


def test_fewer_tokens_sent_are_not_always_fewer_fresh_ones():
    chart = policies({"a": trace_of([900], cached=[0]), "b": trace_of([1200], cached=[1100])})
    assert "“b” sent the fewest fresh ones, 100" in chart.title


def test_a_request_is_shown_by_what_it_is_made_of():
    chart = by_role(PLAIN)
    last = PLAIN.requests[-1]
    assert chart.table[-1]["tool result"] == last.by_role["tool"]
    assert f"{last.by_role['tool']:,}" in chart.title and "“tool result”" in chart.title


def test_estimates_are_off_by_what_the_title_says():
    text = "one word after another " * 40
    exact = shared_counter().text(text)
    chart = estimates({"English": text})
    errors = [100 * (-(-len(text) // divisor) - exact) / exact for divisor in (2, 4)]
    assert chart.title.endswith(f"by {min(errors):+.0f} % to {max(errors):+.0f} %")
    assert chart.table[0]["exact tokens"] == exact


def test_a_count_and_a_size_are_told_apart():
    chart = count_against_tokens({"chat": [user("hi")] * 30, "file": [user("word " * 900)]}, threshold=20)
    assert "“chat”: 30 messages" in chart.title and "“file”: 1 message" in chart.title
    (axes,) = chart.figure.axes
    assert "threshold 20" in axes.get_legend_handles_labels()[1]


def test_the_saw_has_messages_above_and_tokens_below():
    upper, lower = sawtooth(HALVED).figure.axes
    assert list(upper.lines[0].get_ydata()) == [len(request.messages) for request in HALVED.requests]
    assert list(lower.lines[0].get_ydata()) == [request.tokens for request in HALVED.requests]


def test_turning_a_knob_is_shown_by_what_was_sent_and_what_was_read_again():
    chart = sweep({3000: PLAIN, 1000: HALVED})
    assert [row["limit, in tokens"] for row in chart.table] == [1000, 3000]
    assert chart.table[1]["tokens sent"] == PLAIN.sent
    assert chart.table[0]["files read again"] == HALVED.re_reads


# --- nothing overlaps -------------------------------------------------------------------------------------


@every_chart
def test_no_text_overlaps_another(make):
    assert overlaps(make().figure) == []


@pytest.mark.parametrize(
    "tokens",
    [
        [1],
        [0, 0, 0],
        [5, 5, 5, 5, 5],
        [1, 10**9],
        [10**9, 1, 10**9, 1, 10**9, 1],
        [100, 99, 98, 97] * 20,
        list(range(1, 3000, 7)),
        [100_000 - (k % 9) * 11_000 for k in range(700)],
    ],
    ids=["one", "zeros", "level", "steep", "jagged", "close", "long", "saw"],
)
def test_no_text_overlaps_on_extreme_data(tokens):
    trace = trace_of(
        tokens, compactions={k for k in range(2, len(tokens) + 1) if tokens[k - 1] < tokens[k - 2]}
    )
    figures = [
        growth(trace, limit=max(tokens) or 10).figure,
        bill(trace).figure,
        said_against_sent(trace).figure,
    ]
    assert [overlaps(figure) for figure in figures] == [[], [], []]


@settings(max_examples=15)
@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=60), st.integers(1, 10**7), st.data())
def test_no_text_overlaps_on_any_data(tokens, limit, data):
    compactions = data.draw(st.sets(st.integers(1, len(tokens))))
    assert overlaps(growth(trace_of(tokens, compactions=compactions), limit=limit).figure) == []


def test_many_policies_with_long_names_do_not_overlap():
    dice = random.Random(5)
    traces = {
        f"{'保留最近 keep recent ' * 2}{k}": trace_of([dice.randint(1, 10**k) for _ in range(3)])
        for k in range(1, 9)
    }
    assert overlaps(policies(traces, limit=50).figure) == []


def test_all_text_is_inside_the_picture():
    for make in CHARTS.values():
        figure = make().figure
        width, height = figure.get_size_inches() * figure.dpi
        for text, box in boxes(figure):
            assert box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height, text


# --- seen in any theme, and without eyes ------------------------------------------------------------------


@every_chart
def test_a_chart_takes_text_colour_from_the_page_and_brings_no_ground_of_its_own(make):
    svg = make().svg()
    assert "currentColor" in svg and "--jp-ui-font-color1" in svg
    for colour in ("#000000", "#010203", "#1c1c1c"):
        assert colour not in svg
    page = ElementTree.fromstring(svg)
    ground = page.find(f".//{SVG}g[@id]/{SVG}g/{SVG}path")
    assert ground is None or "fill: #ffffff" not in ground.get("style", "")


@every_chart
def test_the_picture_is_said_in_words_and_figures(make):
    chart = make()
    root = ElementTree.fromstring(chart.svg())
    named = {
        element.get("id"): element.text for element in root if element.tag in (f"{SVG}title", f"{SVG}desc")
    }
    title, described = (named[name] for name in root.get("aria-labelledby").split())
    assert root.get("role") == "img"
    assert title == chart.title
    assert described == chart.alt
    assert set(re.findall(r"\d[\d,]+", chart.title)) <= set(re.findall(r"\d[\d,]+", chart.alt))


@every_chart
def test_a_table_stands_beside_the_picture_and_in_the_text(make):
    chart = make()
    shown = chart._repr_html_()
    assert shown.count("<tr>") == len(chart.table) + 1
    assert ("<details>" in shown) == (len(chart.table) > 12)
    assert str(chart).splitlines()[0] == chart.title
    assert all(name in str(chart) for name in chart.table[0])


@every_chart
def test_axes_name_their_units(make):
    said = " ".join(axes.get_xlabel() + axes.get_ylabel() for axes in make().figure.axes)
    assert "tokens" in said


def test_chinese_text_is_drawn_without_a_warning(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chart = policies({"不压缩": PLAIN, "对半压缩": HALVED})
        assert "不压缩" in chart.svg()
        save(chart, tmp_path / "图表.svg")


def test_without_a_chinese_font_a_png_says_what_to_do(tmp_path, monkeypatch):
    from labkit.charts import fonts

    monkeypatch.setattr(fonts, "cjk_fonts", tuple)
    chart = policies({"不压缩": PLAIN})
    with pytest.warns(UserWarning, match=r"no font with Chinese characters.*\.svg") as caught:
        save(chart, tmp_path / "chart.png")
    assert len(caught) == 1


def test_hostile_names_break_nothing():
    chart = policies({"</svg><script>alert(1)</script>\x00\ud83d": PLAIN, "$x^2$ {a} %": HALVED})
    ElementTree.fromstring(chart.svg())
    assert "<script" not in chart._repr_html_()
    said = [text.text for text in ElementTree.fromstring(chart.svg()).iter(f"{SVG}text")]
    assert "$x^2$ {a} %" in said
    (chart._repr_html_() + str(chart)).encode("utf-8")


def test_charts_of_nothing_are_charts():
    nothing = Trace()
    of_a_trace = [make(nothing) for make in (growth, bill, said_against_sent, sawtooth, by_role)]
    of_many = [make({}) for make in (policies, curves, count_against_tokens, estimates, sweep)]
    for chart in [*of_a_trace, *of_many, drop_off([], []), curves({"none": nothing})]:
        ElementTree.fromstring(chart.svg())
        assert chart.title and chart.alt and chart._repr_html_() and str(chart)


# --- the same, saved, and nothing left behind -------------------------------------------------------------


@every_chart
def test_the_same_data_give_the_same_bytes(make):
    assert make()._repr_html_() == make()._repr_html_()


def test_two_charts_share_no_id():
    ids = [set(re.findall(r'\bid="([^"]+)"', chart.svg())) for chart in (growth(PLAIN), growth(HALVED))]
    assert ids[0] and not ids[0] & ids[1]


def test_every_reference_in_a_chart_has_its_target():
    svg = bill(HALVED).svg()
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', svg))
    assert used and used <= set(re.findall(r'\bid="([^"]+)"', svg))


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_chart_is_saved_for_a_report_the_same_each_time(tmp_path, ending):
    first, second = (save(growth(PLAIN), tmp_path / name / f"growth.{ending}") for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size > 3000


def test_a_figure_of_ones_own_can_be_saved_and_another_ending_is_refused(tmp_path):
    assert save(growth(PLAIN).figure, tmp_path / "own.svg").exists()
    with pytest.raises(ValueError, match=r"saved as \.svg, \.png or \.pdf"):
        save(growth(PLAIN), tmp_path / "growth.bmp")


def test_charts_leave_no_figure_behind():
    def alive() -> int:
        gc.collect()
        return sum(isinstance(thing, Figure) for thing in gc.get_objects())

    growth(PLAIN)._repr_html_()
    before = alive()
    for make in CHARTS.values():
        make()._repr_html_()
    assert alive() == before


def test_charts_do_not_need_pyplot_nor_change_its_settings():
    code = (
        "import sys, matplotlib\n"
        "def look(): return {k: matplotlib.rcParams[k] for k in matplotlib.rcParams if k != 'backend'}\n"
        "before = look()\n"
        "from labkit.charts import growth; from labkit.trace import Trace\n"
        "growth(Trace())._repr_html_()\n"
        "assert 'matplotlib.pyplot' not in sys.modules; assert look() == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_chart_has_what_notebooks_and_reports_ask_for():
    chart = growth(PLAIN)
    assert isinstance(chart, Chart)
    assert set(chart._repr_mimebundle_()) == {"text/html", "text/plain"}


def test_the_module_shows_itself_and_saves_its_charts(tmp_path, capsys):
    from labkit.charts.__main__ import main

    main(None)
    assert "Compaction struck" in capsys.readouterr().out
    main(str(tmp_path))
    assert len(list(tmp_path.glob("*.svg"))) == 6
