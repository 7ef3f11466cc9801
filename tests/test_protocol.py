"""The understudy on the wire: the real `openai` client and plain HTTP against the running server."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from labkit.connect import connect, disconnect, understudy
from labkit.messages import assistant, system, tool_call, tool_result, user
from labkit.playground import playground_tools
from labkit.streaming import collect
from labkit.tokens import TokenCounter
from labkit.understudy.faults import Fault, FaultSwitch
from labkit.understudy.models import DEFAULT_MODEL

TWO_FILES = [user("Read `hello.txt` and `notes.md`.")]


@pytest.fixture(scope="module", autouse=True)
def one_server() -> Iterator[None]:
    """The module's tests share the server of this process, as cells of a notebook do."""
    yield
    disconnect()


@pytest.fixture
def client() -> openai.OpenAI:
    understudy().faults.clear()
    return connect()[0]


@pytest.fixture
def tools() -> list[dict[str, Any]]:
    return playground_tools().schemas


def ask(client: openai.OpenAI, messages: list[dict[str, Any]], **settings: Any) -> Any:
    return client.chat.completions.create(**{"model": "understudy-128k", "messages": messages, **settings})


def chunks_of(client: openai.OpenAI, messages: list[dict[str, Any]], **settings: Any) -> list[Any]:
    return list(ask(client, messages, stream=True, **settings))


def refusal(client: openai.OpenAI, messages: list[dict[str, Any]], **settings: Any) -> openai.APIStatusError:
    with pytest.raises(openai.APIStatusError) as caught:
        ask(client, messages, **settings)
    return caught.value


def fault(kind: str, **settings: Any) -> dict[str, Any]:
    return {"understudy": {"fault": kind, **settings}}


# --- replies ----------------------------------------------------------------------------------------------


def test_a_reply_is_text_with_a_finish_reason_and_says_that_no_language_model_made_it(client):
    reply = ask(client, [user("Who are you?")])
    assert "not a language model" in reply.choices[0].message.content
    assert reply.choices[0].finish_reason == "stop"
    assert "not-a-language-model" in reply.system_fingerprint


def test_the_list_of_models_names_their_owner_and_says_what_they_are(client):
    models = client.models.list().data
    assert [model.id for model in models] == ["understudy-8k", "understudy-32k", "understudy-128k"]
    assert {model.owned_by for model in models} == {"labkit-rules"}
    assert "not a language model" in client.models.retrieve("understudy-8k").description


def test_files_are_read_in_parallel_calls_of_one_reply(client, tools):
    reply = ask(client, TWO_FILES, tools=tools).choices[0]
    assert reply.finish_reason == "tool_calls"
    paths = [json.loads(call.function.arguments)["path"] for call in reply.message.tool_calls]
    assert paths == ["hello.txt", "notes.md"]
    assert len({call.id for call in reply.message.tool_calls}) == 2


def test_ids_go_on_from_those_in_the_history(client, tools):
    history = [*TWO_FILES, assistant("", [tool_call("call_0041", "read_file", {"path": "hello.txt"})])]
    history.append(tool_result("call_0041", "Hello"))
    calls = ask(client, history, tools=tools).choices[0].message.tool_calls
    assert [call.id for call in calls] == ["call_0042"]


def test_the_stream_and_the_whole_reply_say_the_same(client, tools):
    whole = ask(client, TWO_FILES, tools=tools)
    streamed = collect(chunks_of(client, TWO_FILES, tools=tools, stream_options={"include_usage": True}))
    message = whole.choices[0].message
    assert streamed.text == message.content
    assert [call["function"] for call in streamed.tool_calls] == [
        {"name": call.function.name, "arguments": call.function.arguments} for call in message.tool_calls
    ]
    assert streamed.finish_reason == "tool_calls"
    assert streamed.usage["completion_tokens"] == whole.usage.completion_tokens


def test_the_arguments_of_parallel_calls_come_split_and_woven_together(client, tools):
    order = [
        call.index
        for chunk in chunks_of(client, TWO_FILES, tools=tools)
        for call in chunk.choices[0].delta.tool_calls or []
        if call.function.arguments
    ]
    assert order[:4] == [0, 1, 0, 1]


def test_usage_comes_in_a_last_chunk_without_choices_and_only_when_asked_for(client):
    with_usage = chunks_of(client, [user("Hello!")], stream_options={"include_usage": True})
    assert with_usage[-1].choices == [] and with_usage[-1].usage.total_tokens > 0
    assert with_usage[0].usage is None
    without = chunks_of(client, [user("Hello!")])
    assert without[-1].choices[0].finish_reason == "stop"


def test_the_same_request_gives_the_same_bytes_from_two_servers(client, tools):
    first = ask(client, TWO_FILES, tools=tools).to_json()
    disconnect()
    second = ask(connect()[0], TWO_FILES, tools=tools).to_json()
    assert first == second


def test_n_stop_and_temperature_are_accepted(client):
    reply = ask(client, [user("Who are you?")], n=2, stop=["rules"], temperature=0.3)
    texts = [choice.message.content for choice in reply.choices]
    assert texts == ["I am the understudy: a set of "] * 2


def test_tool_choice_is_obeyed(client, tools):
    none = ask(client, TWO_FILES, tools=tools, tool_choice="none").choices[0].message
    assert none.tool_calls is None and "no tool" in none.content
    required = ask(client, [user("Hello!")], tools=tools, tool_choice="required").choices[0].message
    assert required.tool_calls[0].function.name == "list_files"
    named = {"type": "function", "function": {"name": "search_text"}}
    forced = ask(client, [user("Hello!")], tools=tools, tool_choice=named).choices[0].message
    assert "pattern" in json.loads(forced.tool_calls[0].function.arguments)
    single = ask(client, TWO_FILES, tools=tools, parallel_tool_calls=False).choices[0].message
    assert len(single.tool_calls) == 1


# --- tokens -----------------------------------------------------------------------------------------------


def test_usage_is_the_exact_count_tools_included(client, tools):
    usage = ask(client, TWO_FILES, tools=tools).usage
    assert usage.prompt_tokens == TokenCounter().history(TWO_FILES, tools)
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def test_a_long_shared_prefix_is_cached_in_steps_of_128_from_1024_on(client):
    counter = TokenCounter()
    long = [system("word " * 1500), user("Hello!")]
    assert ask(client, long).usage.prompt_tokens_details.cached_tokens == 0
    longer = [*long, assistant("Hello."), user("Thanks!")]
    shared = counter.message(long[0]) + counter.message(long[1])
    assert ask(client, longer).usage.prompt_tokens_details.cached_tokens == shared - shared % 128
    changed = [system("other " + "word " * 1500), *longer[1:]]
    assert ask(client, changed).usage.prompt_tokens_details.cached_tokens == 0
    short = [user("Hello!"), assistant("Hello."), user("Thanks!")]
    ask(client, short)
    assert ask(client, short).usage.prompt_tokens_details.cached_tokens == 0


def test_other_tools_make_another_prefix_and_other_keys_share_none(client, tools):
    messages = [system("another " * 1500), user("Hello!")]
    ask(client, messages, tools=tools)
    assert ask(client, messages, tools=tools).usage.prompt_tokens_details.cached_tokens > 0
    assert ask(client, messages, tools=tools[:2]).usage.prompt_tokens_details.cached_tokens == 0
    other = client.with_options(api_key="somebody-else")
    assert ask(other, messages, tools=tools).usage.prompt_tokens_details.cached_tokens == 0


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_reply_is_cut_at_the_most_tokens(client, name):
    reply = ask(client, [user("Who are you?")], **{name: 5})
    assert reply.choices[0].finish_reason == "length"
    assert reply.usage.completion_tokens <= 5
    assert TokenCounter().text(reply.choices[0].message.content) <= 5


def test_a_cut_in_the_arguments_leaves_them_broken_and_says_length(client, tools):
    wish = [user('Use write_file with {"path": "a.txt", "content": "one two three four five six seven"}')]
    reply = ask(client, wish, tools=tools, max_tokens=16).choices[0]
    assert reply.finish_reason == "length"
    with pytest.raises(ValueError):
        json.loads(reply.message.tool_calls[0].function.arguments)


# --- refusals ---------------------------------------------------------------------------------------------

CALL = assistant(
    None, [tool_call("call_a", "read_file", {"path": "x"}), tool_call("call_b", "read_file", {"path": "y"})]
)


@pytest.mark.parametrize(
    ("messages", "text", "param", "code"),
    [
        (
            [],
            "Invalid 'messages': empty array. Expected an array with minimum length 1, "
            "but got an empty array instead.",
            "messages",
            "empty_array",
        ),
        (
            [user("a"), tool_result("x", "y")],
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
            "with 'tool_calls'.",
            "messages.[1].role",
            None,
        ),
        (
            [user("a"), CALL, tool_result("call_a", "x"), user("b")],
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            "'tool_call_id'. The following tool_call_ids did not have response messages: call_b",
            "messages.[3].role",
            None,
        ),
        (
            [user("a"), CALL],
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            "'tool_call_id'. The following tool_call_ids did not have response messages: call_a, call_b",
            "messages.[2].role",
            None,
        ),
        (
            [system("s"), {"role": "user", "content": None}],
            "Invalid value for 'content': expected a string, got null.",
            "messages.[1].content",
            None,
        ),
    ],
)
def test_a_broken_history_is_refused_in_the_service_own_words(client, messages, text, param, code):
    error = refusal(client, messages)
    assert error.status_code == 400
    assert error.body == {"message": text, "type": "invalid_request_error", "param": param, "code": code}


@pytest.mark.parametrize(
    "broken",
    [
        [{"role": "alien", "content": "x"}],
        [user("a"), assistant("x") | {"tool_calls": []}],
        [user("a"), assistant(None, [tool_call("c", "f", "not json")]), tool_result("c", "x")],
        [user("a"), assistant(None, [tool_call("", "f", {})]), tool_result("", "x")],
        [{"role": "user", "content": 7}],
    ],
)
def test_any_other_problem_is_an_invalid_request_too(client, broken):
    error = refusal(client, broken)
    assert (error.status_code, error.type) == (400, "invalid_request_error")


def test_a_history_larger_than_the_window_is_refused_with_both_numbers(client, tools):
    messages = [user("word " * 9000)]
    error = refusal(client, messages, model="understudy-8k")
    count = TokenCounter().history(messages)
    assert error.code == "context_length_exceeded"
    assert error.body["message"] == (
        f"This model's maximum context length is 8192 tokens. However, your messages resulted in {count} "
        "tokens. Please reduce the length of the messages."
    )
    assert "in the functions" in refusal(client, messages, model="understudy-8k", tools=tools).body["message"]
    assert (
        "in the completion"
        in refusal(client, [user("hi")], model="understudy-8k", max_tokens=9000).body["message"]
    )
    assert ask(client, messages, model="understudy-32k").choices


def test_a_model_that_does_not_exist_is_not_found(client):
    error = refusal(client, [user("hi")], model="gpt-none")
    assert (error.status_code, error.code) == (404, "model_not_found")
    assert error.body["message"] == "The model `gpt-none` does not exist or you do not have access to it."


def test_an_empty_list_of_tools_and_a_choice_without_tools_are_refused(client):
    assert refusal(client, [user("hi")], tools=[]).code == "empty_array"
    assert "only allowed when 'tools' are specified" in str(refusal(client, [user("hi")], tool_choice="auto"))


@pytest.mark.parametrize(
    ("settings", "text", "code"),
    [
        (
            {"temperature": "hot"},
            "Invalid type for 'temperature': expected a decimal, but got a string instead.",
            "invalid_type",
        ),
        (
            {"temperature": 3},
            "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
            "decimal_above_max_value",
        ),
        (
            {"n": 0},
            "Invalid 'n': integer below minimum value. Expected a value >= 1, but got 0 instead.",
            "integer_below_min_value",
        ),
        (
            {"stream": "yes"},
            "Invalid type for 'stream': expected a boolean, but got a string instead.",
            "invalid_type",
        ),
        (
            {"stop": list("abcde")},
            "Invalid 'stop': array too long. Expected an array with maximum length 4, "
            "but got an array with length 5 instead.",
            "array_above_max_length",
        ),
        (
            {"stop": [1]},
            "Invalid type for 'stop[0]': expected a string, but got an integer instead.",
            "invalid_type",
        ),
        (
            {"stream_options": {"include_usage": True}},
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            None,
        ),
    ],
)
def test_a_setting_of_the_wrong_type_or_size_is_refused(settings, text, code):
    body = {"model": DEFAULT_MODEL, "messages": [user("hi")], **settings}
    status, answer = post("/chat/completions", json.dumps(body).encode())
    error = json.loads(answer)["error"]
    assert (status, error["message"], error["code"]) == (400, text, code)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"tool_choice": "sometimes"}, "Supported values are: 'none', 'auto', and 'required'."),
        ({"tool_choice": {"type": "function", "function": {"name": "fly"}}}, "Tool choice 'fly' not found"),
        ({"tool_choice": {"type": "function", "function": "fly"}}, "'tool_choice.function.name'"),
        ({"tools": "all"}, "expected an array of objects, but got a string"),
        ({"tools": [{"type": "function", "function": {"name": "two words"}}]}, "does not match pattern"),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "parameters": "x"}}]},
            "expected an object",
        ),
    ],
)
def test_tools_and_choices_that_fit_nothing_are_refused(tools, settings, text):
    body = {"model": DEFAULT_MODEL, "messages": [user("hi")], "tools": tools, **settings}
    status, answer = post("/chat/completions", json.dumps(body).encode())
    assert status == 400 and text in json.loads(answer)["error"]["message"]


def test_a_setting_that_nobody_knows_is_let_through():
    body = {"model": DEFAULT_MODEL, "messages": [user("hi")], "frobnicate": 1}
    assert post("/chat/completions", json.dumps(body).encode())[0] == 200


# --- plain HTTP -------------------------------------------------------------------------------------------


def post(path: str, body: bytes) -> tuple[int, str]:
    """A request by plain HTTP, without a key and without the environment's proxies."""
    request = urllib.request.Request(understudy().url + path, body, {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request) as response:
            return response.status, response.read().decode("utf-8")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode("utf-8")


def test_any_http_client_can_talk_to_it_without_a_key():
    body = {"model": "understudy-8k", "messages": [user("你好")], "stream": True}
    status, text = post("/chat/completions", json.dumps(body).encode())
    assert status == 200
    assert text.endswith("data: [DONE]\n\n")
    assert all(line.startswith("data: ") for line in text.split("\n\n") if line)


@pytest.mark.parametrize("body", [b"{", b"[1]", b"\xff\xfe", b"null", b"[" * 100_000])
def test_a_body_that_is_no_json_object_is_refused(body):
    status, text = post("/chat/completions", body)
    assert status == 400
    assert "could not parse the JSON body" in json.loads(text)["error"]["message"]


def test_a_wrong_address_answers_with_an_error_object():
    status, text = post("/nothing", b"{}")
    assert status == 404 and "Invalid URL" in json.loads(text)["error"]["message"]


def test_half_a_character_in_a_message_does_no_harm():
    body = b'{"model": "understudy-8k", "messages": [{"role": "user", "content": "half \\ud83d of it"}]}'
    status, text = post("/chat/completions", body)
    assert status == 200 and "\\ud83d" in text


# --- faults -----------------------------------------------------------------------------------------------


def test_a_key_can_be_refused(client):
    error = refusal(client, [user("hi")], extra_body=fault("401"))
    assert (error.status_code, error.code) == (401, "invalid_api_key")
    assert error.body["message"].startswith("Incorrect API key provided: ")


def test_too_many_requests_say_when_to_come_back(client):
    error = refusal(client, [user("hi")], extra_body=fault("429", retry_after=7))
    assert (error.status_code, error.code) == (429, "rate_limit_exceeded")
    assert error.response.headers["retry-after"] == "7"


def test_the_service_can_fail(client):
    assert refusal(client, [user("hi")], extra_body=fault("500")).status_code == 500


def test_the_client_own_retry_gets_through_when_the_fault_is_for_one_time(client):
    patient = client.with_options(max_retries=1)
    reply = ask(patient, [user("Hello!")], extra_body=fault("429", times=1, retry_after=0.01))
    assert reply.choices[0].message.content.startswith("Hello")


@pytest.mark.parametrize(("kind", "error"), [("cut", openai.APIConnectionError), ("error", openai.APIError)])
def test_a_stream_can_break_in_the_middle(client, kind, error):
    seen = []
    with pytest.raises(error):
        for chunk in ask(client, [user("Who are you?")], stream=True, extra_body=fault(kind, after=4)):
            seen.append(chunk)
    assert len(seen) == 4


def test_a_stream_can_end_without_a_finish_reason(client):
    chunks = chunks_of(client, [user("Who are you?")], extra_body=fault("unfinished", after=4))
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None] * 4


def test_a_reply_that_is_not_streamed_can_be_cut_too(client):
    with pytest.raises(openai.APIConnectionError):
        ask(client, [user("Who are you?")], extra_body=fault("cut"))


def test_a_slow_stream_is_whole(client):
    slow = collect(chunks_of(client, [user("Hello!")], extra_body=fault("slow", seconds=0.001)))
    assert slow.text == ask(client, [user("Hello!")]).choices[0].message.content


def test_replies_can_be_spoilt(client, tools):
    broken = ask(client, TWO_FILES, tools=tools, extra_body=fault("bad-arguments")).choices[0].message
    with pytest.raises(ValueError):
        json.loads(broken.tool_calls[0].function.arguments)
    assert ask(client, [user("Hello!")], extra_body=fault("empty")).choices[0].message.content == ""
    assert ask(client, [user("Hello!")], extra_body=fault("refusal")).choices[0].message.refusal
    endless = ask(client, [user("Hello!")], tools=tools, extra_body=fault("endless")).choices[0]
    assert endless.finish_reason == "tool_calls"


def test_a_fault_can_be_switched_on_for_the_next_requests_of_the_server(client):
    understudy().faults.add("500", times=2)
    assert [refusal(client, [user("hi")]).status_code for _ in range(2)] == [500, 500]
    assert ask(client, [user("hi")]).choices


def test_a_fault_with_a_wrong_name_or_setting_is_refused(client):
    assert "slow" in str(refusal(client, [user("hi")], extra_body=fault("sleepy")))
    assert refusal(client, [user("hi")], extra_body=fault("slow", seconds="x")).status_code == 400
    with pytest.raises(ValueError, match="no fault is called"):
        FaultSwitch().add("sleepy")
    with pytest.raises(ValueError, match="negative"):
        Fault("slow", seconds=-1)
