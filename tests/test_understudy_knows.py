"""The understudy knows only what is in the request: what it trusts, what it has forgotten, what it admits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from labkit.compaction.earlier import ACKNOWLEDGEMENT
from labkit.compaction.summary import COUNT_SECTIONS, summary_request
from labkit.messages import INTERRUPTED, Message, assistant, system, tool_call, tool_result, user
from labkit.playground import playground_tools
from labkit.understudy.draft import Draft
from labkit.understudy.planner import plan

SYSTEM = system("You are a coding agent.")
B = "[Earlier in this task]"
A = "[Context summary - earlier conversation]"
C = "[Context has been compressed. Memory: .memory/memory_1.jsonl]"
SUMMARY = (
    "## Facts\n- asked: read `big-article.md` and give its main point in three sentences\n"
    "## File state\n- read big-article.md: The mill that waited"
)
SECOND = "also read `hello.txt` and `notes.md`, and write their contents with that summary into `review.txt`"


@pytest.fixture
def tools() -> list[dict[str, Any]]:
    return playground_tools().schemas


def reply(messages: list[Message], tools: list[dict[str, Any]] | None = None, **settings: Any) -> Draft:
    offered = {"tools": tools} if tools else {}
    return plan({"model": "understudy-128k", "messages": messages, **offered, **settings})


def calls(draft: Draft) -> list[tuple[str, str]]:
    """The calls of a reply, each as its tool and its path (or the first other argument)."""
    found = []
    for call in draft.calls:
        arguments = json.loads(call.arguments)
        found.append((call.name, str(arguments.get("path", next(iter(arguments.values()), "")))))
    return found


def exchange(name: str, result: str, **arguments: Any) -> list[Message]:
    return [assistant(None, [tool_call("c1", name, arguments)]), tool_result("c1", result)]


READ_BOTH = [
    assistant(
        None,
        [
            tool_call("c1", "read_file", {"path": "hello.txt"}),
            tool_call("c2", "read_file", {"path": "notes.md"}),
        ],
    ),
    tool_result("c1", "HELLO"),
    tool_result("c2", "NOTES"),
]


# --- summaries --------------------------------------------------------------------------------------------


def test_a_summary_of_the_user_hands_on_what_is_missing(tools):
    draft = reply([SYSTEM, user(f"{B} {SUMMARY}"), user(SECOND), *READ_BOTH], tools)
    assert calls(draft) == [("read_file", "big-article.md")], (
        "the summary names the article, not its main point"
    )


def test_a_summary_in_the_assistant_name_is_taken_for_its_own_words(tools):
    draft = reply([SYSTEM, assistant(f"{B} {SUMMARY}"), user(SECOND), *READ_BOTH], tools)
    assert calls(draft) == [("write_file", "review.txt")]
    assert "## Facts" in json.loads(draft.calls[0].arguments)["content"], "the notes went into the review"


def test_its_own_words_are_trusted_whole_so_a_summary_among_them_is_swallowed_whole(tools):
    made = f"{SUMMARY}\n- answered: The main point of `big-article.md` in one sentence: It waits."
    wrong = reply([SYSTEM, assistant(f"{B} {made}"), user(SECOND), *READ_BOTH], tools)
    right = reply([SYSTEM, user(f"{B} {made}"), user(SECOND), *READ_BOTH], tools)
    assert "## Facts" in json.loads(wrong.calls[0].arguments)["content"]
    assert "## Facts" not in json.loads(right.calls[0].arguments)["content"]
    assert "It waits." in json.loads(right.calls[0].arguments)["content"]


def test_a_task_under_way_is_lost_with_a_summary_in_the_assistant_name(tools):
    assert "no request" in reply([SYSTEM, assistant(f"{B} {SUMMARY}"), *READ_BOTH], tools).text


def test_a_task_under_way_goes_on_from_a_summary_of_the_user(tools):
    history = [SYSTEM, user(f"{B} ## Facts\n- asked: read `hello.txt`\n- open: {SECOND}"), *READ_BOTH]
    draft = reply(history, tools)
    assert calls(draft) == [], "the summary it should write is nowhere, and nothing says of which file it was"
    assert "do not have that summary any more" in draft.text


def test_the_user_own_words_in_a_summary_are_a_request_too(tools):
    words = (
        f"{B} ## File state\n\n[The user's own words, from the messages summarised above]\nRead `hello.txt`"
    )
    assert calls(reply([SYSTEM, user(words)], tools)) == [("read_file", "hello.txt")]


@pytest.mark.parametrize("heading", [A, C])
def test_a_summary_without_an_acknowledgement_is_answered_instead_of_the_request(tools, heading):
    draft = reply([SYSTEM, user(f"{heading}\n\n{SUMMARY}"), user(SECOND)], tools)
    assert not draft.calls and "Thank you for the summary" in draft.text
    acknowledged = [SYSTEM, user(f"{heading}\n\n{SUMMARY}"), assistant(ACKNOWLEDGEMENT), user(SECOND)]
    assert calls(reply(acknowledged, tools)) == [("read_file", "hello.txt"), ("read_file", "notes.md")]


def test_a_file_that_a_summary_names_is_not_read_to_make_sure_and_one_it_lost_is(tools):
    wish = user("Make sure that you have read `notes.md`.")
    known = f"{A}\n\n## Files read\n- notes.md: Notes"
    lost = f"{A}\n\n## Files read\n- hello.txt: Hello"
    assert calls(reply([SYSTEM, user(known), assistant(ACKNOWLEDGEMENT), wish], tools)) == []
    assert calls(reply([SYSTEM, user(lost), assistant(ACKNOWLEDGEMENT), wish], tools)) == [
        ("read_file", "notes.md")
    ]


# --- forgetting -------------------------------------------------------------------------------------------


def test_what_was_dropped_is_not_known(tools):
    told = [user("My goal is a review for Ines."), assistant("Noted.")]
    question = user("What is my goal?")
    assert "a review for Ines" in reply([SYSTEM, *told, question], tools).text
    assert reply([SYSTEM, question], tools).text.startswith("I do not know")


def test_ignorance_is_admitted_in_chinese_too():
    assert reply([user("黄金的价格是多少？")]).text.startswith("我不知道")


def test_a_fact_is_answered_with_its_source(tools):
    read = [
        user("Read `a.txt`"),
        *exchange("read_file", "The boat's colour is red.", path="a.txt"),
        assistant("Done."),
    ]
    assert (
        reply([*read, user("Which colour has the boat?")], tools).text
        == "`a.txt` says: The boat's colour is red."
    )
    summary = user(f"{A}\n\n## Goal\n- The colour of the boat is blue.")
    asked = [summary, assistant(ACKNOWLEDGEMENT), user("Which colour has the boat?")]
    assert "summary of our earlier conversation says" in reply(asked, tools).text


def test_a_stub_is_no_text(tools):
    read = [user("Read `a.txt`"), *exchange("read_file", "[compressed]", path="a.txt"), assistant("Done.")]
    assert calls(reply([*read, user("Which colour has the boat?")], tools)) == [("read_file", "a.txt")]


def test_a_detail_of_a_compressed_history_is_searched_in_its_snapshot(tools):
    history = [
        SYSTEM,
        user(f"{C}\n\n{SUMMARY}"),
        assistant(ACKNOWLEDGEMENT),
        user("Which colour has the boat?"),
    ]
    draft = reply(history, tools)
    assert [call.name for call in draft.calls] == ["search_text"]
    assert json.loads(draft.calls[0].arguments)["path"] == ".memory/memory_1.jsonl"
    line = '.memory/memory_1.jsonl:3: {"role": "user", "content": "The boat has a green colour."}'
    found = reply(
        [*history, *exchange("search_text", line, pattern="colour", path=".memory/memory_1.jsonl")], tools
    )
    assert "The boat has a green colour." in found.text and "snapshot" not in found.text


def test_a_snapshot_that_says_nothing_is_given_up_after_a_few_looks(tools):
    history = [
        SYSTEM,
        user(f"{C}\n\nNothing."),
        assistant(ACKNOWLEDGEMENT),
        user("Which colour has the boat?"),
    ]
    for _ in range(10):
        draft = reply(history, tools)
        if not draft.calls:
            break
        arguments = json.loads(draft.calls[0].arguments)
        history += exchange(draft.calls[0].name, "No line contains it.", **arguments)
    assert draft.text.startswith("I do not know") and len(history) < 18


def test_its_own_writing_is_remembered_as_long_as_the_call_is_there(tools):
    wrote = [
        user("Write"),
        *exchange("write_file", "Wrote a.txt", path="a.txt", content="one two"),
        assistant("Done."),
    ]
    assert "2 words" in reply([*wrote, user("Count the words of `a.txt`.")], tools).text


# --- tools ------------------------------------------------------------------------------------------------


def test_without_tools_it_says_that_it_cannot_see_the_file():
    assert (
        reply([user("What does `hello.txt` say?")]).text
        == "I have no tool that reads files, so I cannot see `hello.txt`."
    )


def function(name: str, **properties: str) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": list(properties),
    }
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def test_a_tool_of_another_name_and_argument_is_used_for_the_same_job():
    draft = reply([user("Read `hello.txt`")], [function("cat", filename="string")])
    assert (draft.calls[0].name, json.loads(draft.calls[0].arguments)) == ("cat", {"filename": "hello.txt"})


@pytest.mark.parametrize(
    ("question", "tool", "arguments"),
    [
        ("What is the weather in Paris?", function("get_weather", city="string"), {"city": "Paris"}),
        ("Please add 2 and 3.", function("add", a="integer", b="integer"), {"a": 2, "b": 3}),
        ('Use add with {"a": 2, "b": "x"}', function("add", a="integer", b="integer"), {"a": 2, "b": "x"}),
    ],
)
def test_a_learner_own_tool_is_called_when_the_words_name_it(question, tool, arguments):
    draft = reply([user(question)], [tool])
    assert json.loads(draft.calls[0].arguments) == arguments
    name = draft.calls[0].name
    done = reply([user(question), *exchange(name, "it is 5", **arguments)], [tool])
    assert done.text == f"`{name}` returned: it is 5"


def test_explicit_uses_joined_by_and_are_made_in_parallel_and_by_then_one_after_the_other(tools):
    both = 'use list_files with {"path": "."} and use read_file with {"path": "a.txt"}'
    assert len(reply([user(both)], tools).calls) == 2
    assert len(reply([user(both.replace("and", "then"))], tools).calls) == 1


def test_an_error_is_reported_and_not_repeated(tools):
    failed = exchange(
        "write_file", "Error: a.txt is read-only. Write to a new file instead.", path="a.txt", content="x\n"
    )
    draft = reply([user('Write "x" to `a.txt`'), *failed], tools)
    assert not draft.calls and "read-only" in draft.text


def test_a_call_that_was_interrupted_is_made_again(tools):
    history = [user("Read `a.txt`"), *exchange("read_file", INTERRUPTED, path="a.txt")]
    assert calls(reply(history, tools)) == [("read_file", "a.txt")]


def test_an_interrupted_task_is_taken_up_again(tools):
    history = [
        user("Read `a.txt`"),
        assistant("[Stopped after 1 requests without a final answer.]"),
        user("go on"),
    ]
    assert calls(reply(history, tools)) == [("read_file", "a.txt")]


# --- the compressor ---------------------------------------------------------------------------------------

TALK = [user("Read `a.md`"), *exchange("read_file", "The boat is red.", path="a.md"), assistant("It is red.")]


def test_as_a_compressor_it_writes_the_sections_that_are_asked_for_within_the_tokens():
    draft = reply(summary_request(TALK, COUNT_SECTIONS), max_tokens=200)
    assert "## Goal" in draft.text and "## Files read\n- a.md" in draft.text and not draft.calls


def test_a_compressor_that_is_offered_tools_calls_one(tools):
    assert calls(reply(summary_request(TALK, COUNT_SECTIONS), tools)) == [("read_file", "a.md")]


@pytest.mark.parametrize("words", ["Summarise our conversation so far.", "请概括以上对话。"])
def test_the_user_can_ask_for_a_summary_of_the_conversation(tools, words):
    draft = reply([SYSTEM, *TALK, user(words)], tools)
    assert "a.md" in draft.text and not draft.calls


@pytest.mark.parametrize(
    "words", ["Who are you?", "Are you ChatGPT, or another language model?", "你是什么模型？", "你是谁？"]
)
def test_it_says_that_it_is_no_language_model(words):
    text = reply([user(words)]).text
    assert "not a language model" in text or "不是语言模型" in text


def test_what_it_has_no_rule_for_is_not_called_noted(tools):
    for words in ("Translate hello.txt into French", "Delete notes.md"):
        assert "no rule" in reply([user(words)], tools).text
    assert "没有做这件事的规则" in reply([user("删除 notes.md")], tools).text
    assert "Noted" in reply([user("The report goes into notes.md.")], tools).text
    assert "list, read" in reply([user("What can you do?")], tools).text


def test_nothing_done_is_not_called_done(tools):
    assert "which file" in reply([user("Read all of it again and again.")], tools).text
    assert "哪个文件" in reply([user("把它再读一遍")], tools).text
