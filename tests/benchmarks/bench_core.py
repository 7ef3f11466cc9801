"""Counting, importing and assembling, each beside its nearest alternative.

python tests/benchmarks/bench_core.py
"""

from __future__ import annotations

import random
import subprocess
import sys

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately
from openai._models import construct_type
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk
from sidebyside import side_by_side

from labkit.messages import Message, assistant, system, tool_call, tool_result, user
from labkit.playground import playground_tools
from labkit.streaming import collect
from labkit.tokens import TokenCounter
from labkit.vocabulary import load_encoding

PROSE = """
the agent reads a file and finds that parser returns None when tenant records are empty so it edits the module
runs all tests again and writes down what changed for whoever comes after def class return self import path
"""
WORDS = PROSE.split()


def session(length: int) -> list[Message]:
    """A session of `length` messages as agents have them: requests, calls, results of 1,500 characters."""
    dice = random.Random(20)

    def text(words: int) -> str:
        return " ".join(dice.choice(WORDS) for _ in range(words))

    history = [system(text(80))]
    while len(history) < length:
        number = len(history)
        history += [
            user(text(25)),
            assistant(text(12), [tool_call(f"c{number}", "read_file", {"path": f"src/{number}.py"})]),
            tool_result(f"c{number}", text(300)),
            assistant(text(60)),
        ]
    return history[:length]


def texts(history: list[Message]) -> list[str]:
    found = [message["content"] for message in history]
    return found + [
        call["function"]["arguments"] for message in history for call in message.get("tool_calls", [])
    ]


def counting() -> None:
    """Asked before each request of a session of 2,000 messages."""
    history = session(2000)
    encoding = load_encoding()
    tools = playground_tools(".").schemas
    requests = [end for end in range(1, len(history)) if history[end]["role"] == "assistant"]

    def once() -> None:
        for text in texts(history):
            len(encoding.encode_ordinary(text))

    def counter() -> None:
        asked = TokenCounter()
        growing: list[Message] = []
        for end in requests:
            growing += history[len(growing) : end]
            asked.history(growing, tools)

    def recount() -> None:
        for end in requests[::20]:  # every twentieth, times twenty below: the whole would take minutes
            for text in texts(history[:end]):
                len(encoding.encode_ordinary(text))

    def approximate() -> None:
        for end in requests:
            count_tokens_approximately(converted[:end])

    converted = [as_langchain(message) for message in history]
    print(
        f"{len(history):,} messages, {sum(map(len, texts(history))):,} characters, {len(requests)} requests"
    )
    rows = side_by_side(
        "Counting before each request",
        {
            "each text encoded once": once,
            "TokenCounter": counter,
            "tiktoken again each time (1 request in 20)": recount,
            "langchain-core's approximate counter": approximate,
        },
        rounds=9,
    )
    ours = rows[1].seconds
    print(f"TokenCounter / each text once:            {rows[1].ratio:6.2f}   (promised: at most 1.5)")
    print(
        f"tiktoken again each time / TokenCounter:  {rows[2].seconds * 20 / ours:6.0f}   (expected: hundreds)"
    )
    print(
        f"langchain-core's estimate / TokenCounter: {rows[3].seconds / ours:6.1f}   (expected: ten or more)\n"
    )


def as_langchain(message: Message) -> object:
    kinds = {"system": SystemMessage, "user": HumanMessage}
    if message["role"] == "tool":
        return ToolMessage(message["content"], tool_call_id=message["tool_call_id"])
    if message["role"] == "assistant":
        calls = [
            {
                "name": call["function"]["name"],
                "args": {"arguments": call["function"]["arguments"]},
                "id": call["id"],
            }
            for call in message.get("tool_calls", [])
        ]
        return AIMessage(message["content"] or "", tool_calls=calls)
    return kinds[message["role"]](message["content"])


def importing() -> None:
    """Whole processes, so that nothing is loaded already."""

    def process(statement: str) -> None:
        subprocess.run([sys.executable, "-c", statement], check=True)

    import os

    def spent() -> float:
        times = os.times()
        return times.children_user + times.children_system

    ways = {"python -c pass": "pass", "import labkit": "import labkit", "import openai": "import openai"}
    seconds = {name: min(_children(spent, process, code) for _ in range(5)) for name, code in ways.items()}
    start = seconds.pop("python -c pass")
    ours, theirs = (max(value - start, 1e-4) for value in seconds.values())
    print("Importing (processor seconds beyond the interpreter's start, smallest of five)")
    print(f"import labkit {ours:.4f}, import openai {theirs:.4f}: {theirs / ours:,.0f} times\n")


def _children(spent, process, code: str) -> float:
    before = spent()
    process(code)
    return spent() - before


def chunks(number: int) -> list[dict[str, object]]:
    """A stream of `number` chunks: text, then two calls whose fragments alternate."""

    def chunk(delta: dict[str, object], finish: str | None = None) -> dict[str, object]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    def fragment(index: int, text: str, **first: str) -> dict[str, object]:
        function = {"arguments": text} | ({"name": first["name"]} if first else {})
        return {"tool_calls": [{"index": index, "type": "function", "function": function} | first]}

    text = [chunk({"role": "assistant", "content": ""})] + [chunk({"content": "word "})] * (number // 2)
    begin = [chunk(fragment(i, '{"text": "', id=f"call{i}", name="write_file")) for i in (0, 1)]
    body = [chunk(fragment(i % 2, "word ")) for i in range(number - len(text) - 5)]
    end = [chunk(fragment(0, '"}')), chunk(fragment(1, '"}')), chunk({}, "tool_calls")]
    return [*text, *begin, *body, *end]


def assembling() -> None:
    """100,000 chunks into one message, from SDK objects and from dicts."""
    plain = chunks(100_000)
    objects = [construct_type(type_=ChatCompletionChunk, value=chunk) for chunk in plain]

    def sdk(number: int) -> None:
        state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
        for chunk in objects[:number]:
            state.handle_chunk(chunk)

    side_by_side(
        "Assembling 100,000 chunks",
        {
            "collect, SDK objects": lambda: collect(objects),
            "collect, dicts": lambda: collect(plain),
            "the SDK's accumulator": lambda: sdk(len(objects)),
        },
        rounds=1,
    )
    halves = [chunks(25_000), chunks(50_000), plain]
    side_by_side(
        "How collect grows: linear means 1, 2, 4",
        {f"{len(part):,} chunks": (lambda part=part: collect(part)) for part in halves},
    )


if __name__ == "__main__":
    counting()
    importing()
    assembling()
