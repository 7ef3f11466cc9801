"""The strip: what it shows, that nothing in a message can break it, and that it stays the same."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from odd_histories import odd_histories, session

from labkit.messages import assistant, system, tool_call, tool_result, user
from labkit.palette import DARK_GROUND, LIGHT_GROUND, ROLE_ORDER, SERIES, STYLES, contrast
from labkit.strip import Strip, columns, strip
from labkit.tokens import shared_counter

SVG = "{http://www.w3.org/2000/svg}"
HISTORY = [
    system("Be brief."),
    user("Read both files."),
    assistant(
        calls=[tool_call("a", "read_file", {"path": "a.md"}), tool_call("b", "read_file", {"path": "b.md"})]
    ),
    tool_result("a", "One line of text. " * 60),
    tool_result("b", "Another line. " * 20),
    assistant("The first is about the mill, the second about the railway."),
    user("And now?"),
]
COMPACTED = [HISTORY[0], user("[Earlier in this task] Both files were read."), *HISTORY[5:]]


def parsed(drawing: Strip) -> ElementTree.Element:
    return ElementTree.fromstring(drawing.svg())


def blocks(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [group for group in root.iter(f"{SVG}g") if group.get("class") == "block"]


def widths(root: ElementTree.Element) -> list[float]:
    return [float(block.find(f"{SVG}rect").get("width")) for block in blocks(root)]


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if element.get("class") == name]


def words(root: ElementTree.Element) -> str:
    return " ".join(element.text or "" for element in root.iter(f"{SVG}text"))


# --- blocks -----------------------------------------------------------------------------------------------


def test_each_message_is_a_block_with_its_place_role_tokens_and_first_words():
    titles = [block.find(f"{SVG}title").text for block in blocks(parsed(strip(HISTORY)))]
    tokens = shared_counter().message(HISTORY[3])
    assert len(titles) == len(HISTORY)
    assert titles[3].startswith(f"[3] tool result, {tokens} tokens\nOne line of text. One line")
    assert 'read_file({"path": "a.md"})' in titles[2]


def test_widths_are_in_proportion_to_tokens():
    counts = [shared_counter().message(message) for message in HISTORY[3:5]]
    first, second = widths(parsed(strip(HISTORY)))[3:5]
    assert (first + 1) / (second + 1) == pytest.approx(counts[0] / counts[1], rel=0.01)


def test_a_tiny_message_beside_a_huge_one_can_be_seen():
    drawn = widths(parsed(strip([user("hi"), tool_result("a", "word " * 50_000)])))
    assert min(drawn) >= 1.5


def test_roles_differ_in_colour_and_in_pattern_and_in_glyph():
    roles = [STYLES[kind] for kind in ROLE_ORDER]
    assert len({(style.colour, style.pattern) for style in roles}) == len(roles)
    patterns = [style.pattern for style in roles]
    assert len(set(patterns)) == len(patterns)
    assert len({style.glyph for style in roles}) == len(roles)
    assert len({style.hatch for style in roles}) == len(roles)
    assert all(columns(style.glyph) == 1 for style in roles)


def test_every_pattern_that_a_block_uses_is_defined():
    root = parsed(strip(HISTORY, before=[*HISTORY, user("more")], tools=[{"type": "function"}]))
    used = {
        rect.get("fill")[5:-1] for rect in root.iter(f"{SVG}rect") if rect.get("fill", "").startswith("url")
    }
    defined = {pattern.get("id") for pattern in root.iter(f"{SVG}pattern")}
    assert used and used <= defined


@pytest.mark.parametrize("ground", [LIGHT_GROUND, DARK_GROUND])
def test_colours_stand_out_in_light_and_dark(ground):
    colours = {style.colour for style in STYLES.values()} | {colour for colour, _, _ in SERIES}
    assert {colour: contrast(colour, ground) for colour in colours if contrast(colour, ground) < 3} == {}


def test_white_patterns_stand_out_on_their_colour():
    assert all(contrast(style.colour, "#ffffff") >= 3 for style in STYLES.values() if style.pattern)


def test_text_and_lines_take_the_colour_of_the_page():
    shown = strip(HISTORY, limit=300, cuts=True, before=HISTORY)._repr_html_()
    colours = set(re.findall(r"#[0-9a-f]{3,6}\b", shown))
    assert colours <= {style.colour for style in STYLES.values()} | {"#fff"}
    assert "--jp-ui-font-color1" in shown


# --- ties, cuts, limit, marks -----------------------------------------------------------------------------


def test_a_call_is_tied_to_all_its_results():
    (tie,) = of_class(parsed(strip(HISTORY)), "tie")
    assert tie.get("d").count("M") == 3  # from the call, to two results


def test_legal_cuts_are_ticks_and_are_counted():
    root = parsed(strip(HISTORY, cuts=True))
    assert len(of_class(root, "cut")) == 5  # before 1, 2, 5, 6 and at the end; none inside the exchange
    assert "5 legal cuts" in words(root)


def test_the_limit_is_a_line_with_its_label_and_the_distance_is_said():
    root = parsed(strip(HISTORY, limit=200))
    total = shared_counter().history(HISTORY)
    assert len(of_class(root, "limit")) == 1
    assert "limit 200" in words(root)
    assert f"{total - 200} over the limit of 200" in words(root)


def test_a_limit_far_away_does_not_squeeze_the_history():
    near, far = parsed(strip(HISTORY)), parsed(strip(HISTORY, limit=1_000_000))
    assert widths(far) == widths(near)
    assert "limit 1,000,000 →" in words(far)


def test_the_limit_stands_at_the_same_place_before_and_after():
    lines = of_class(parsed(strip(COMPACTED, limit=600, before=HISTORY)), "limit")
    assert len({line.get("d").split()[0] for line in lines}) == 1


def test_a_marked_place_has_a_triangle_and_its_label():
    drawing = strip(HISTORY, marks={3: "this result has lost its call"})
    assert len(of_class(parsed(drawing), "mark")) == 1
    assert "this result has lost its call" in words(parsed(drawing))
    assert "▼ this result has lost its call" in drawing.text()


def test_what_tool_descriptions_cost_stands_in_front():
    schema = {"type": "function", "function": {"name": "f", "description": "word " * 50, "parameters": {}}}
    drawing = strip(HISTORY, tools=[schema])
    first = blocks(parsed(drawing))[0].find(f"{SVG}title").text
    cost = shared_counter().history(HISTORY, [schema]) - shared_counter().history(HISTORY)
    assert first == f"1 tool descriptions, {cost} tokens, sent with each request"


# --- before and after -------------------------------------------------------------------------------------


def test_before_and_after_say_what_was_kept_and_what_was_summarised():
    said = words(parsed(strip(COMPACTED, before=HISTORY)))
    assert "kept: 3 messages" in said
    assert "summarised: 4 messages" in said
    assert "new: 1 message" in said


def test_messages_that_went_without_a_summary_were_dropped():
    said = words(parsed(strip([HISTORY[0], *HISTORY[5:]], before=HISTORY)))
    assert "dropped: 4 messages" in said and "summarised" not in said


def test_a_stubbed_result_is_neither_kept_nor_summarised():
    stubbed = [*HISTORY[:3], tool_result("a", "[compressed]"), *HISTORY[4:]]
    said = words(parsed(strip(stubbed, before=HISTORY)))
    assert "stubbed: 1 message" in said and "kept: 6 messages" in said and "summarised" not in said


def test_what_is_no_longer_sent_is_shaded_in_both_forms():
    drawing = strip(COMPACTED, before=HISTORY)
    assert of_class(parsed(drawing), "shade")
    assert "╌╌" in drawing.text()


@given(odd_histories, st.data())
def test_every_message_before_is_in_exactly_one_state(history, data):
    kept = [message for message in history if data.draw(st.booleans())]
    totals = strip(kept, before=history).rows[0].state_totals()
    assert sum(count for count, _ in totals.values()) == len(history)
    assert totals.get("kept", (0, 0))[0] <= len(kept)


# --- hostile and long -------------------------------------------------------------------------------------


@given(odd_histories, st.integers(1, 2000), st.booleans())
def test_any_history_is_drawn_and_breaks_nothing(history, limit, both):
    drawing = strip(history, limit, cuts=True, before=history[::-1] if both else None, marks={0: "<here>"})
    root = parsed(drawing)
    assert len(blocks(root)) == len(history) * (2 if both else 1)
    assert "<script" not in drawing._repr_html_()
    drawing.svg().encode("utf-8")
    drawing.text().encode("utf-8")


@given(odd_histories, st.integers(40, 100))
def test_text_keeps_to_its_width(history, width):
    assert all(columns(line) <= width for line in strip(history, 100, cuts=True).text(width).splitlines())


def test_an_empty_history_has_a_strip_too():
    drawing = strip([])
    assert "0 tokens in 0 messages" in drawing.text()
    assert parsed(drawing).tag == f"{SVG}svg"


def test_a_thousand_messages_are_drawn_in_groups_that_lose_nothing():
    history = session(1000)
    drawing = strip(history, limit=50_000, cuts=True)
    (row,) = drawing.rows
    assert len(row.blocks) <= 160
    assert sum(block.stop - block.start for block in row.blocks) == len(history)
    assert sum(block.tokens for block in row.blocks) == sum(map(shared_counter().message, history))
    assert min(widths(parsed(drawing))) >= 2
    assert f"drawn in {len(row.blocks)} groups" in drawing.alt


def test_groups_do_not_mix_what_was_kept_with_what_went():
    history = session(1000)
    after = [history[0], user("[Earlier in this task] Much."), *history[900:]]
    before_row, after_row = strip(after, before=history).rows
    assert before_row.state_totals()["kept"][0] == len(history) - 899
    assert after_row.state_totals()["new"][0] == 1


def test_in_a_terminal_no_message_is_too_small_to_be_counted():
    drawing = strip(session(100))
    (line,) = [line for line in drawing.text(width=72).splitlines() if "tokens in" in line]
    assert "groups" in line


# --- the same, and said in words --------------------------------------------------------------------------


def test_the_same_strip_is_the_same_bytes_and_another_has_other_ids():
    first, again, other = strip(HISTORY).svg(), strip(HISTORY).svg(), strip(HISTORY[:4]).svg()
    ids = [set(re.findall(r'\bid="([^"]+)"', text)) for text in (first, other)]
    assert first == again
    assert ids[0] and not ids[0] & ids[1]


def test_alt_text_holds_the_numbers():
    drawing = strip(HISTORY, limit=200, title="Two files")
    total = shared_counter().history(HISTORY)
    assert f"{total} tokens in 7 messages" in drawing.alt
    assert "limit is 200" in drawing.alt
    root = parsed(drawing)
    named = {
        element.get("id"): element.text for element in root if element.tag in (f"{SVG}title", f"{SVG}desc")
    }
    assert root.get("role") == "img"
    assert next(named[name] for name in root.get("aria-labelledby").split()) == "Two files"


def test_tooltips_are_also_a_table_to_unfold():
    shown = strip(HISTORY)._repr_html_()
    assert "<summary>The 7 blocks in words</summary>" in shown
    assert shown.count("<tr>") == 7


def test_the_legend_names_each_role_with_its_tokens():
    legend = [element.text for element in of_class(parsed(strip(HISTORY)), "legend")]
    results = sum(shared_counter().message(message) for message in HISTORY[3:5])
    assert f"tool result {results}" in legend
    assert not any("summary" in entry for entry in legend)


def test_a_strip_can_be_drawn_into_a_chart():
    axes = Figure().subplots()
    strip(COMPACTED, limit=200, before=HISTORY).draw(axes)
    assert len(axes.patches) == len(HISTORY) + len(COMPACTED)
    assert axes.get_xlabel() == "tokens"


def test_the_history_is_not_touched():
    copy = [dict(message) for message in HISTORY]
    strip(HISTORY, limit=10, cuts=True, before=HISTORY)._repr_html_()
    assert copy == HISTORY


def test_the_module_shows_itself(capsys):
    from labkit.strip.__main__ import demo

    demo()
    assert "What compaction did" in capsys.readouterr().out
