"""The trace: numbers of each request, totals, and the same in text and HTML."""

import xml.etree.ElementTree as ET

from labkit.compaction import Compaction
from labkit.messages import assistant, user
from labkit.trace import Trace


def two_requests():
    trace = Trace()
    trace.add([user("a")], [5], tokens=20, tool_tokens=12, output_tokens=4)
    compaction = Compaction([user("a")], True, "3 messages became <1>", 30, 5)
    trace.add(
        [user("a"), assistant("b")],
        [5, 6],
        tokens=1400,
        cached_tokens=1280,
        output_tokens=7,
        compaction=compaction,
    )
    return trace


def test_requests_are_numbered_from_one_and_keep_what_was_sent():
    first, second = two_requests().requests
    assert (first.index, second.index) == (1, 2)
    assert second.messages == [user("a"), assistant("b")]
    assert (second.tokens, second.cached_tokens, second.fresh_tokens, second.output_tokens) == (
        1400,
        1280,
        120,
        7,
    )


def test_tokens_are_split_by_role_with_the_tools_apart():
    first, second = two_requests().requests
    assert first.by_role == {"tools": 12, "user": 5}
    assert second.by_role == {"user": 5, "assistant": 6}


def test_totals_add_up():
    trace = two_requests()
    assert (trace.sent, trace.cached, trace.peak, len(trace)) == (1420, 1280, 1400, 2)


def test_a_later_change_of_the_callers_list_does_not_reach_the_trace():
    trace, history = Trace(), [user("a")]
    trace.add(history, [5], tokens=8)
    history.append(assistant("b"))
    assert len(trace.requests[0].messages) == 1


def test_text_and_html_say_the_same():
    trace = two_requests()
    page = ET.fromstring(trace._repr_html_())
    cells = [cell.text or "" for cell in page.iter("td")]
    for shown in ("1,400", "1,280", "3 messages became <1>"):
        assert shown in cells
        assert shown in str(trace)
    assert "2 requests, 1,420 tokens sent, 1,280 of them cached" in str(trace)
    assert "2 requests, 1,420 tokens sent" in (page.find("caption").text or "")


def test_an_empty_trace_says_so():
    assert str(Trace()) == "no requests yet"
    assert "no requests yet" in Trace()._repr_html_()
