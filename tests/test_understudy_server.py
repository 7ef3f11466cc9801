"""The understudy in the foreground, as `labkit serve` runs it; and rules that hold for any history."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.messages import Message, assistant, problems, system, tool_call, tool_result, user
from labkit.playground import playground_tools
from labkit.understudy.draft import with_ids
from labkit.understudy.models import WHAT_IT_IS
from labkit.understudy.planner import plan
from labkit.understudy.server import listening_socket


def test_served_in_the_foreground_it_introduces_itself_answers_and_ends_at_ctrl_c():
    code = "from labkit.understudy.server import serve; serve(0, say=lambda text: print(text, flush=True))"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    ) as served:
        assert served.stdout is not None and served.stderr is not None
        try:
            url = re.search(r"http://127\.0\.0\.1:\d+/v1", served.stdout.readline())
            assert url and served.stdout.readline().strip() == WHAT_IT_IS
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(f"{url[0]}/models") as response:
                assert json.load(response)["data"][0]["id"] == "understudy-8k"
            served.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
            served.wait(timeout=20)
            assert served.stderr.read() == ""
        finally:
            served.kill()


def test_a_taken_port_is_an_error_and_not_shared():
    with listening_socket() as first:
        first.listen()
        with pytest.raises(OSError):
            listening_socket(first.getsockname()[1])


# --- any history ------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    [
        "read `a.md`",
        "and write the summary into `b.txt`",
        "fix the bug BUG-7 in `shop`",
        "用三句话概括它的要点",
        "What is my goal?",
        "use list_files with {}",
        "search for `x`",
        "go on",
        "[Earlier in this task] - asked: read `a.md`",
        "[Context has been compressed. Memory: .memory/m.jsonl]\n\nNothing",
        "[compressed]",
        "Error: a.md does not exist.",
        'FAILED tests.test_a.A.test_b\nFile "shop/tests/test_a.py", line 3',
        "\ud83d \0 \u2028",
        "",
    ]
)
TEXT = st.one_of(WORDS, st.lists(WORDS, max_size=3).map(" ".join), st.text(max_size=60))
CALLS = st.lists(
    st.tuples(
        st.sampled_from(
            ["read_file", "list_files", "run_command", "edit_file", "write_file", "search_text", "own"]
        ),
        st.dictionaries(
            st.sampled_from(["path", "content", "old", "new", "command", "pattern"]), TEXT, max_size=3
        ),
        TEXT,
    ),
    min_size=1,
    max_size=3,
)


def exchange(calls: list[tuple[str, dict[str, str], str]], start: int) -> list[Message]:
    made = [
        tool_call(f"call_{start + place}", name, arguments)
        for place, (name, arguments, _) in enumerate(calls)
    ]
    results = [tool_result(f"call_{start + place}", result) for place, (_, _, result) in enumerate(calls)]
    return [assistant(None, made), *results]


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = [system("s")] if draw(st.booleans()) else []
    for number in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["user", "assistant", "calls"]))
        if kind == "calls":
            messages += exchange(draw(CALLS), 10 * number)
        else:
            messages.append({"role": kind, "content": draw(TEXT)})
    return messages or [user("x")]


@given(histories(), st.booleans())
def test_for_any_history_the_next_step_is_a_sound_message_and_always_the_same(messages, offered):
    assert not problems(messages)
    body: dict[str, Any] = {"model": "understudy-128k", "messages": messages}
    if offered:
        body["tools"] = playground_tools().schemas
    before = json.dumps(messages)
    draft = plan(body)
    assert draft == plan(body)
    assert json.dumps(messages) == before, "the request is only read"
    assert draft.text or draft.calls
    calls = with_ids(draft.calls, messages)
    history = [*messages, assistant(draft.text, calls), *(tool_result(call["id"], "ok") for call in calls)]
    strange = [call for call in draft.calls if not call.arguments.startswith("{")]
    assert strange or not problems(history)
