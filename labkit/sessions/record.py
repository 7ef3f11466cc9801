"""Make the recorded sessions that ship with the labs: `python -m labkit.sessions.record`.

The understudy works through a list of tasks on a fresh playground, over the wire, until the history has the
wanted number of messages. In the long session the agent compacts (its window is as small as a real one's),
so it reads files again now and then; the recording keeps every message as it was said.
"""

from __future__ import annotations

import gzip
import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from labkit.compaction import SafeCutCompactor
from labkit.loop import Agent, Event
from labkit.messages import Message, problems, system, user
from labkit.places import shipped_playground
from labkit.playground import playground_tools
from labkit.sessions.shipped import FOLDER, RECORDED
from labkit.tokens import shared_counter

SYSTEM = "You are a coding agent. Use the tools you are given, and say what you did."
LIMIT = 60_000  # characters / 2: about 30,000 tokens of English
MOST_REQUESTS = 40  # in one turn
LONGEST_TURN = 26  # messages; with less room than this left, only short tasks follow
SHORTEST_REST = 7  # messages; from here on the rest is filled exactly

SMALL = (
    "Read `big-article.md` and give its main point in three sentences.",
    "Read `hello.txt` and `notes.md` and tell me what they say.",
)
MEDIUM = (
    "Read `big-article.md` and give its main point in three sentences.",
    "Also read `hello.txt` and `notes.md`, and write their contents with that summary into `review.txt`.",
    "List the files in `shop`.",
    "Find the failing test in `shop`, read the modules involved, fix the bug that `shop/ISSUES.md` marks as "
    "next, and run the tests.",
    "When is the review due?",
    "Search for `discount` in `shop`.",
    "Read every file in `logbook`, one after the other.",
    "Who is Tobias Renn?",
    "读 `big-article.zh.md`，用三句话概括要点。",
    "From now on, write all amounts in whole cents.",
    "Read `shop/money.py` and `shop/tax.py` and tell me what they do.",
    "Count the lines of `shop/till.py`.",
    "Please remember: the review goes to Ines.",
    "Search for `lamp` in `logbook`.",
    "Read `shop/stock.py` and `shop/receipt.py` and tell me what they do.",
    "Summarise `logbook/day-07.md` in two sentences and write that into `day-7.txt`.",
)
# What fills a session exactly: a turn of two messages that needs no tool, and turns of four and of five.
TWO = (
    "From now on, write all amounts in whole cents.",
    "Please remember: the review goes to Ines.",
    "From now on, answer in at most three sentences.",
)
FOUR = (
    "Search for `lamp` in `logbook`.",
    "Search for `rounded` in `shop`.",
    "Search for `eddy` in `logbook`.",
)
FIVE = 'Use read_file with {"path": "shop/money.py"} and use read_file with {"path": "shop/tax.py"}.'

Plan = Callable[[int], str]
"""From the number of messages that are still wanted to the user's next task."""

SHOP = ("basket", "catalogue", "discounts", "money", "receipt", "stock", "tax", "till")
WORDS = ("discount", "price", "quantity", "lamp", "ferry", "water", "rate", "total", "crates", "ISSUES")


def script(tasks: Iterable[str]) -> Plan:
    """These tasks, one after the other."""
    rest = iter(tasks)
    return lambda left: next(rest, "")


def long_script() -> Plan:
    """Tasks of many kinds, the same ones every time; near the end such as fill the session exactly."""
    tasks = long_tasks()

    def plan(left: int) -> str:
        if left > LONGEST_TURN:
            return next(tasks)
        if left % 2:
            return FIVE
        return FOUR[left // 4 % len(FOUR)] if left > SHORTEST_REST else TWO[left // 2 % len(TWO)]

    return plan


def long_tasks() -> Iterator[str]:
    """Tasks as a user might set them over days."""
    dice = random.Random(2031)
    yield from MEDIUM
    for number in range(1, 1000):
        day, other = dice.sample(range(1, 11), 2)
        module, second = dice.sample(SHOP, 2)
        tasks = [
            f"Read `logbook/day-{day:02}.md` and `logbook/day-{other:02}.md` and tell me what they say.",
            f"Summarise `logbook/day-{day:02}.md` in two sentences and write that into `day-{number}.txt`.",
            f"Read `shop/{module}.py` and `shop/{second}.py`, then run the tests of `shop`.",
            f"Search for `{dice.choice(WORDS)}` in `{dice.choice(['shop', 'logbook'])}`.",
            f"Count the lines of `shop/{module}.py`.",
            "Read `big-article.md` and give its main point in two sentences.",
            "Read every file in `logbook`, one after the other.",
            "What does the article say about the pond?",
            f"读 `logbook/day-{other:02}.md`，用一句话概括要点。",
            f"List the files in `shop`, then read `shop/tests/test_{dice.choice(['basket', 'till'])}.py`.",
            dice.choice(TWO),
        ]
        yield dice.choices(tasks, weights=(6, 5, 4, 4, 4, 1, 1, 2, 2, 3, 2))[0]


def record(length: int, plan: Plan, folder: Path) -> list[Message]:
    """A session of exactly `length` messages on a playground copy in `folder`."""
    from openai import DefaultHttpxClient, OpenAI

    from labkit.understudy.server import Server

    messages: list[Message] = [system(SYSTEM)]

    def note(event: Event) -> None:
        if event.kind in ("reply", "tool_result") and event.message is not None:
            messages.append(event.message)

    server = Server()
    try:
        client = OpenAI(base_url=server.url, api_key="none", http_client=DefaultHttpxClient(trust_env=False))
        agent = Agent(
            client,
            "understudy-128k",
            tools=playground_tools(folder),
            system=SYSTEM,
            before_request=SafeCutCompactor(limit=LIMIT),
            max_turns=MOST_REQUESTS,
            on_event=note,
        )
        while len(messages) < length:
            task = plan(length - len(messages))
            if not task:
                break
            messages.append(user(task))
            agent.run(task)
    finally:
        server.close()
    if len(messages) != length or problems(messages):
        raise ValueError(f"the session has {len(messages)} messages instead of {length}: change its tasks")
    return messages


def write(name: str, messages: list[Message]) -> Path:
    """Write a session, the large one compressed; the same messages give the same bytes."""
    lines = "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in messages).encode("utf-8")
    large = len(lines) > 200_000
    path = FOLDER / f"{name}.jsonl{'.gz' if large else ''}"
    FOLDER.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(lines, mtime=0) if large else lines)
    return path


def main() -> None:
    """Record all three."""
    plans = {"small": script(SMALL), "medium": script(MEDIUM), "large": long_script()}
    for name, length in RECORDED.items():
        with tempfile.TemporaryDirectory() as folder:
            playground = Path(shutil.copytree(shipped_playground(), Path(folder) / "playground"))
            messages = record(length, plans[name], playground)
            text = json.dumps(messages)
            if folder in text:
                raise ValueError(f"{name}: the recording names this machine's folders")
        path = write(name, messages)
        tokens = shared_counter().history(messages)
        print(f"{path.name}: {len(messages)} messages, {tokens:,} tokens, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
