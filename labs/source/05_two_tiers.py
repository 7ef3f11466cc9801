# %% [markdown]
# # Lab 5: two tiers
#
# A tool result is precious when it is new, and nearly worthless some turns later. Labs 3 and 4 treated all
# old messages alike and asked a model for a summary. In this lab you split the work in two.
#
# - **Tier 1** is cheap and runs all the time: old tool results are slimmed down to a stub. No model is
#   asked, and only what can be read again is lost.
# - **Tier 2** is the great operation and runs seldom: the whole history goes to disk, and a summary takes
#   its place.
#
# **What you will see.** Tool results fill nearly nine tenths of a history. Slim them, and the summary is
# hardly ever needed. And when it was needed after all, the agent can look up in its own snapshot what the
# summary has lost.
#
# **Time:** about 45 minutes. **New since lab 4:** until now a compaction threw the old messages away. From
# here on they stay on disk, and the agent is told where.

# %% [markdown]
# ## Set up
#
# This cell imports what the lab uses. You do not have to read it now: each exercise says what it needs.

# %%
from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from openai import BadRequestError

from labkit.charts import by_role, curves, policies, sweep
from labkit.checks import check, hint, question, quiz, right, solution, wrong
from labkit.compaction import ToolStubs, model_summariser
from labkit.compaction.asking import ask_summary
from labkit.compaction.base import (
    Compaction,
    Compactor,
    Summariser,
    commit,
    quarter_of_characters,
    unchanged,
)
from labkit.compaction.earlier import COUNT_HEADING, FULL_HEADING, summary_pair
from labkit.compaction.snapshot import OWNER_ONLY, as_line, publish, read_snapshot, write_draft
from labkit.compaction.summary import FULL_SECTIONS, Instructions
from labkit.compaction.tool_stubs import STUB, length, results_of, unread_from
from labkit.compaction.two_tier import path_for_agent, split_unread
from labkit.connect import connect
from labkit.errors import SnapshotError
from labkit.live import Narrator
from labkit.loop import Agent
from labkit.messages import Message, calls_of, exchanges, function_of, text_of, user
from labkit.places import shipped_playground
from labkit.playground import fresh_playground, playground_tools
from labkit.replay import Replay, replay
from labkit.sessions.shipped import recorded
from labkit.streaming import Reply
from labkit.strip import strip
from labkit.tokens import shared_counter
from labkit.tools import Toolbox
from labkit.widgets import chat_panel, explorer

# %% [markdown]
# Connect to the model, and make a fresh playground. As before, the model is the **understudy**: a set of
# rules that plays one, behind the real wire protocol.

# %%
client, model = connect()
playground = fresh_playground("lab5")
MEMORY = playground / ".memory"  # here the snapshots will go: inside the agent's own folder

all_six = playground_tools(playground)
tools = Toolbox(all_six[name] for name in ("list_files", "read_file", "search_text", "write_file"))
print("connected to", model)

# %% [markdown]
# ## 1. What fills the window?
#
# The harbour of the playground keeps a logbook, one file a day. Here the agent reads ten days of it, two
# in each turn, and answers a question each time.

# %%
SYSTEM = "You are a coding agent. You work in one folder, with the tools you are given."
QUESTIONS = [
    ((1, 2), "Where does the spare key of the boathouse hang?"),
    ((3, 4), "How much may the crane lift?"),
    ((5, 6), "What is the order number for the paraffin?"),
    ((7, 8), "What is the least depth over the bar?"),
    ((9, 10), "Who will be the race officer?"),
]


def read_ten_days(**hooks: Compactor) -> Agent:
    """An agent that has read the logbook in five turns. The hooks say which compactor runs when."""
    agent = Agent(client, model, tools=tools, system=SYSTEM, **hooks)
    for (one, other), asked in QUESTIONS:
        answer = agent.run(f"Read `logbook/day-{one:02}.md` and `logbook/day-{other:02}.md`. {asked}")
        print(f"{asked}\n    {start_of(answer, 150)}")
    return agent


def start_of(text: str, width: int = 90) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[:width]}..."


agent = read_ten_days()
history = list(agent.messages)

# %% [markdown]
# Five good answers. Now look at what each request was made of.

# %%
by_role(agent.trace)

# %%
sizes = agent.trace.requests[-1].by_role
messages_only = {role: tokens for role, tokens in sizes.items() if role != "tools"}
share = messages_only["tool"] / sum(messages_only.values())
print(messages_only)
print(f"Of the tokens in the messages, {share:.0%} are tool results.")

# %% [markdown]
# Nearly nine tenths of the history is text out of files. You, the user, wrote a few lines. So did the
# model.
#
# And how long was each text *needed*? The strip shows the history at the end. Days 1 and 2 were read for
# the first question, and that was answered at once. Since then their text has gone out with every request,
# for nothing.

# %%
strip(history, title="Ten days read: the history at the end")

# %% [markdown]
# That is the waste to go for. A summary of *everything* would cost a request and lose detail everywhere.
# But if only the old tool results go, hardly anything is lost: the files are still there. Whoever needs
# one again can read it again.

# %% [markdown]
# ## 2. Tier 1: a stub for an old result
#
# So take the text out of an old result, and put a short **stub** in its place: `[compressed]`. The message
# stays, and so does its `tool_call_id`. (Why not delete the whole message? You met the reason in lab 1.
# Section 8 shows it again.)
#
# **Exercise 5.1: `stub_old_results`**
#
# - *In:* a history; `keep_recent`, how many results to spare; `min_chars`, the length up to which a result
#   is not worth the trouble.
# - *Out:* a new history of the same length, in which old, long tool results say `[compressed]`.
# - *Example:* with ten results of 1,600 characters, the 7 oldest become stubs and the 3 newest stay.
# - *Why it matters:* this runs after each step of the agent, and it is most of the saving.
#
# Mind four things.
#
# - *Long* means more than `min_chars` characters of text. The `keep_recent` newest **of the long ones**
#   stay: a short "ok" takes nobody's place.
# - A result that the model **has not read yet** is never stubbed, not even with `keep_recent=0`. It was
#   asked for a moment ago, and the next request is to bring it. (Unread is what stands behind the last
#   assistant message.)
# - Nothing grows. `[compressed]` has 12 characters; a result that is not longer than that stays as it is.
# - The old list and its messages stay as they were. Build new ones.
#
# What you have: `results_of(messages)` gives the indices of all tool results, in order;
# `length(message)` the characters of a message's text; `unread_from(messages)` the index from which on
# nothing has been read; and `STUB` is the text `[compressed]`.

# %% exercise="5.1" function="labkit.compaction.tool_stubs:stub_old_results" minutes=8 difficulty=2
# hint: First make a list of the indices of the long results. Then ask which of them are old. Only then
#   touch messages, and do it in a copy: `stubbed = list(messages)`.
# hint: All but the last `keep_recent` of a list is `long[: len(long) - keep_recent]`. Take care that the
#   end of that slice does not go below 0: a negative end counts from the back.
# hint: `long = [index for index in results_of(messages) if length(messages[index]) > min_chars]`. Then
#   `for index in long[: max(0, len(long) - keep_recent)]:` with an `if` inside: the index lies before
#   `unread_from(messages)`, and the message is longer than `len(STUB)`.
# hint: A changed copy of a message, with its id and all else: `{**messages[index], "content": STUB}`.

# %%
stub_old_results = check("5.1", stub_old_results)

# %% [markdown]
# Try it on the ten days. The upper strip is the history as it was. In the lower one the widths are to the
# same scale, and the stubs have nearly vanished.

# %%
slim = stub_old_results(history)
strip(slim, before=history, title="Tier 1: seven old results became stubs")

# %%
counter = shared_counter()
print("messages:", len(history), "->", len(slim))
print(f"tokens:   {counter.history(history):,} -> {counter.history(slim):,}")
print("a stub:  ", slim[4])

# %% [markdown]
# As many messages as before, each call still has its result, and no model was asked. What the agent *said*
# about those files is all there.
#
# To use it in the loop, dress it as a compactor: a function that takes a history and returns a
# `Compaction`, as in labs 3 and 4. There is nothing new in this cell.


# %%
def tier_1(messages: list[Message], keep_recent: int = 3, min_chars: int = 100) -> Compaction:
    """Your stubs as a compactor."""
    stubbed = stub_old_results(messages, keep_recent, min_chars)
    before, after = quarter_of_characters(messages), quarter_of_characters(stubbed)
    many = sum(old is not new for old, new in zip(messages, stubbed, strict=True))
    if not many:
        return unchanged(messages, before, "no old result to stub")
    reason = f"{many} old result{'s' * (many > 1)} stubbed, ≈{before:,} tokens became ≈{after:,}"
    return Compaction(stubbed, True, reason, before, after)


print(tier_1(history).reason)

# %% [markdown]
# ## 3. Before the great operation: the whole history on disk
#
# Stubs only slow the growth. What you say, what the model says and the calls stay, and in a long session
# they fill the window too. Then it takes a summary of everything: tier 2.
#
# A summary always loses something, and nobody knows beforehand what will be missed. So first write the
# whole history into a file, a **snapshot**. Then nothing is lost: it is only further away.
#
# Writing a file sounds easy. Here is the easy way, on the first messages of the session. In place of a
# power cut it meets a message that cannot be written.


# %%
def write_carelessly(messages: list[Message], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for message in messages:
            file.write(json.dumps(message) + "\n")


broken_off = [*history[:3], {"role": "user", "content": object()}, *history[3:]]
careless = playground / "careless.jsonl"
try:
    write_carelessly(broken_off, careless)
except TypeError as error:
    print("broke off:", error)
print(len(broken_off), "messages were to be saved;", len(read_snapshot(careless)), "stand in the file")
careless.unlink()

# %% [markdown]
# The file looks perfectly sound. Every line is JSON, and nothing says that most of the history is missing.
# A process that is killed, a full disk, a flat battery: each can leave such a half file behind.
#
# The cure is old and simple. Write everything into a **draft** that nobody reads. When it is whole, give
# it its real name, in one step. Killed at any moment, there is either no snapshot or a whole one.
#
# **Exercise 5.2: `write_snapshot`**
#
# - *In:* a history, and the folder for snapshots (it may not be there yet).
# - *Out:* the path of a new file `memory_<time>.jsonl` in it, with one message a line, as JSON, in UTF-8.
# - *Example:* a history of 26 messages gives a file of 26 lines.
# - *Why it matters:* a moment later the history in memory is replaced. This file is then all there is of
#   it.
#
# No snapshot ever takes another one's place, not even when two are written within the same second. And if
# it cannot be written at all, the caller gets a `SnapshotError`, one kind for all causes, and knows that
# nothing has changed.
#
# What you have:
#
# - `as_line(index, message)`: one message as bytes: JSON, UTF-8, the end of the line. It raises
#   `SnapshotError` for what JSON cannot express.
# - `write_draft(folder, content)`: writes the bytes into a new file under a name that nobody reads, makes
#   sure that they are on the disk, and returns its path.
# - `publish(draft, folder)`: gives the draft a free name `memory_<time>.jsonl`, in one step, and returns
#   the new path. The draft's own name may still be there afterwards: `draft.unlink(missing_ok=True)`
#   removes it, come what may.
# - `folder.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)`: makes the folder, readable by its owner
#   alone. A history can hold anything that the agent has seen.
# - What the disk refuses is an `OSError`. `raise SnapshotError("...") from error` says it in the one kind.

# %% exercise="5.2" function="labkit.compaction.snapshot:write_snapshot" minutes=9 difficulty=2
# hint: Four steps in this order: all lines in memory, the folder, the draft, the name. If a line cannot be
#   made, no file has been touched yet.
# hint: `lines = [as_line(index, message) for index, message in enumerate(messages)]`. The content of the
#   draft is `b"".join(lines)`. The folder may be handed over as text: `folder = Path(folder)`.
# hint: After `draft = write_draft(...)`: `try: return publish(draft, folder)` and
#   `finally: draft.unlink(missing_ok=True)`. A return inside try still runs the finally.
# hint: Around the folder, the draft and the name: `try: ... except OSError as error:` and in it
#   `raise SnapshotError("The snapshot could not be written.", "Make room or give access.") from error`.

# %%
write_snapshot = check("5.2", write_snapshot)

# %% [markdown]
# Write one, and look into it as the agent would.


# %%
def timeless(text: str) -> str:
    """The text with a snapshot's time left out, so that this lab prints the same each time."""
    return re.sub(r"memory_\d[\d_]*", "memory_<time>", text)


path = write_snapshot(history, MEMORY)
print(timeless(path.name), "has", len(path.read_bytes().splitlines()), "lines")
for line in path.read_text(encoding="utf-8").splitlines()[:4]:
    print(start_of(line))
print("reads back equal:", read_snapshot(path) == history)

# %% [markdown]
# ## 4. Tier 2: everything at once
#
# Now the great operation. In one sentence:
#
# > Write the snapshot. Ask for a summary of at most 2,000 tokens. Replace the history by three messages:
# > system, the summary with the snapshot's path, and an answer to it.
#
# The order matters. The summary comes from a model, and a model can fail, refuse, or be cut off. Whatever
# it does, the history is safe on disk *before* anybody touches it.
#
# **Exercise 5.3: `compact_all`**
#
# - *In:* a history; `summarise`, which asks a model; the folder for snapshots; `root`, the folder that the
#   agent's tools call `.`; and the instructions for the summary.
# - *Out:* a `Compaction` with the three messages and the snapshot's path. Without a useful summary: the
#   history as it was, with the reason.
# - *Example:* the 26 messages of the ten days become 3.
# - *Why it matters:* this is what lets a session go on for days.
#
# The second message begins `[Context has been compressed. Memory: .memory/memory_<time>.jsonl]`. With that
# path the agent can open the snapshot with its own file tool.
#
# One thing is more than the sentence says. If the user has just asked something, or a result has not been
# read yet, that is not history: it is what comes next. It stays **behind** the three, word for word.
#
# What you have:
#
# - `split_unread(messages)`: three lists: the system part, what can be summarised, and what is unread.
# - `ask_summary(old, summarise, instructions)`: asks, and judges the answer. `.text` is the summary.
#   `.problem` says why there is none; it is empty when all is well. `.asked`: whether a model was asked.
# - `unchanged(messages, tokens, reason, failed=..., snapshot=...)`: the history as it was, in a
#   `Compaction`. `quarter_of_characters(messages)` is this source's estimate of tokens.
# - `FULL_HEADING` is the heading, with `{path}` in it: `FULL_HEADING.replace("{path}", ...)`.
#   `path_for_agent(path, root)` is the path as the agent's tools take it, also when `root` is `None`.
# - `summary_pair(heading, summary, unread)`: the summary as a user message and, where it is needed, the
#   assistant's answer to it.
# - `commit(messages, shorter, quarter_of_characters, snapshot=path)`: compares the two, and keeps the
#   smaller.

# %% exercise="5.3" function="labkit.compaction.two_tier:compact_all" minutes=9 difficulty=2
# hint: Write down the order first: snapshot, split, ask, give up or rebuild, commit. Each is one line.
# hint: `path = write_snapshot(messages, folder)`, then `system, old, unread = split_unread(messages)`, then
#   `summary = ask_summary(old, summarise, instructions)`.
# hint: `if summary.problem:` return `unchanged(...)` with the tokens of messages, `summary.problem` as the
#   reason, `failed=summary.asked` and `snapshot=path`.
# hint: `shorter = [*system, *summary_pair(heading, summary.text, unread), *unread]`, where heading is
#   FULL_HEADING with `path_for_agent(path, root)` put in.

# %%
compact_all = check("5.3", compact_all)

# %% [markdown]
# Run it on the ten days. The summary is asked for over the wire, from the same model, without tools. This
# little function also notes how large the request was: we shall need that in section 9.

# %%
ask_model = model_summariser(client, model)
summary_requests: list[int] = []  # tokens sent for each summary


def summarise(messages: list[Message], max_tokens: int) -> Reply:
    summary_requests.append(counter.history(messages))
    return ask_model(messages, max_tokens)


def tier_2(messages: list[Message]) -> Compaction:
    """Your great operation as a compactor."""
    return compact_all(messages, summarise, MEMORY)


compacted = tier_2(history)
print(compacted.reason)
strip(compacted.messages, before=history, title="Tier 2: the whole history became three messages")

# %% [markdown]
# Read the three messages aloud. This is all that the agent will know when you speak to it next.

# %%
for message in compacted.messages:
    print(f"[{message['role']}]", timeless(message["content"]), "\n")

# %% [markdown]
# (The understudy copies and never invents. A language model would write better prose here, and might get a
# fact wrong. The frame around it is the same.)

# %% [markdown]
# ## 5. Who runs when?
#
# Two tiers, and two moments in the loop at which something may run: after the user's input, and after each
# reply and its tool runs.
#
# Tier 1 belongs to the second. Results have just arrived, so others have just become old.
#
# Tier 2 belongs to the first. Between two turns no call is open, and the next thing to be sent is the
# user's new request. In the middle of a turn it would take from the agent what it is working with.
#
# **Exercise 5.4: `after_input` and `after_tools`**
#
# - *In:* a history, and both tiers as compactors: `stubs` and `full`. For `after_input` also a `limit`.
# - *Out:* the `Compaction` of the tier that runs. If none runs: the history unchanged, with a reason.
# - *Example:* `after_input` with a history of 40,000 estimated tokens and `limit=30000` returns
#   `full(messages)`; with 20,000 it asks nobody.
# - *Why it matters:* both tiers are sound. Run at the wrong moment, both do damage.
#
# Tier 2 runs **above** the limit, not at it. It does not run while a call still waits for its result: the
# user may have pressed Ctrl-C in the middle of a tool run, and typed. `exchanges(messages)` gives all
# exchanges; `.open` of one says that it waits. The estimate is `quarter_of_characters(messages)`.

# %% exercise="5.4" function="labkit.compaction.two_tier:after_input,after_tools" minutes=6 difficulty=1
# hint: after_tools is a single line: the tier that asks no model.
# hint: after_input has two reasons to do nothing: a call is open, or the history is within the limit. Both
#   return `unchanged(messages, tokens, "why")`. Else it returns `full(messages)`.
# hint: `any(exchange.open for exchange in exchanges(messages))` says whether a call still waits.
#   `tokens = quarter_of_characters(messages)`, and within the limit is `tokens <= limit`.

# %%
after_input, after_tools = check("5.4", (after_input, after_tools))

# %% [markdown]
# ## 6. Watch it work
#
# Put the four pieces together: two hooks for an agent. The published limit is 30,000 tokens; our ten days
# have about 5,000. So that there is something to see, use a small limit.


# %%
def two_tiers(limit: int = 30000) -> dict[str, Compactor]:
    """Both of your tiers, as hooks of an agent."""
    return {
        "after_input": lambda messages: after_input(messages, tier_1, tier_2, limit),
        "after_tools": lambda messages: after_tools(messages, tier_1, tier_2),
    }


LIMIT = 2500
both = two_tiers(LIMIT)
agent = read_ten_days(**both)

# %% [markdown]
# The same five answers as in section 1. And what was sent?
#
# The next chart compares four policies: no compaction, each tier alone, and both. `replay` walks through
# the recorded session of section 1 and works out what each request *would* have sent under a policy. That
# is quick, and all four see the very same session.


# %%
def compare(session: list[Message], limit: int, offer: Toolbox | None = None) -> dict[str, Replay]:
    """One session under four policies."""
    hooks = two_tiers(limit)
    return {
        "no compaction": replay(session, tools=offer),
        "tier 1 only": replay(session, tools=offer, after_tools=hooks["after_tools"]),
        "tier 2 only": replay(session, tools=offer, after_input=hooks["after_input"]),
        "both tiers": replay(session, tools=offer, **hooks),
    }


def strikes(trace: Replay) -> str:
    """Where each tier struck: the numbers of the requests before which it did."""
    struck = [request for request in trace.requests if request.compaction]
    second = [request.index for request in struck if request.compaction.snapshot]
    first = [request.index for request in struck if not request.compaction.snapshot]
    return f"tier 1 {listed(first)}, tier 2 {listed(second)}"


def listed(numbers: list[int]) -> str:
    few = f"before {', '.join(map(str, numbers))}" if numbers else "never"
    return few if len(numbers) < 9 else f"{len(numbers)} times"


ten_days = compare(history, LIMIT, tools)
curves(ten_days, limit=LIMIT)

# %%
for name, trace in ten_days.items():
    print(f"{name:<14} {trace.sent:>7,} tokens sent   {strikes(trace)}")

# %% [markdown]
# Tier 1 takes a little from the fourth request on, and the curve goes nearly flat. Tier 2 alone lets the
# curve climb, and then cuts it down at one stroke.
#
# With both, tier 2 has **nothing to do**. Tier 1 keeps the history under the limit.
#
# Is that only so because the session is short? Here is a recorded one of 1,000 messages and 469 requests,
# with files read and changed, tests run, and a good deal of talk.

# %%
long_session = recorded("large")
long_run = compare(long_session, limit=20000)
curves(long_run, limit=20000)

# %%
for name, trace in long_run.items():
    print(f"{name:<14} {trace.sent:>11,} tokens sent   {strikes(trace)}   re-reads: {trace.re_reads}")

# %% [markdown]
# The curve with both tiers is tier 1's, until that comes near the limit. Most of the time only tier 1 works,
# more than two hundred times. Tier 2 strikes once in the whole session.
#
# (The exact count can be above the line: the limit is held against an estimate, characters / 4, and only
# when the user speaks.)
#
# Look at the third line, too. Tier 2 alone has sent even a little less. (The requests for its summaries are
# not in that sum.) But it struck five times. So it made the user wait five times, and five times all that
# had been said was folded into a summary. Tier 1 takes nothing of what was said.
#
# The last column is tier 1's price. So often the session came back to a file whose text was gone by then. A
# replay cannot change what was done in the recording; a live agent would have read the file again.

# %% [markdown]
# ## 7. Look back
#
# After tier 2 the agent holds three messages. Here are they again, and a question about a detail that no
# summary would keep. To make it hard, take the logbook away: now *only* the old history knows.
#
# The function prints a turn step by step, as in lab 1.


# %%
def run_shown(agent: Agent, text: str) -> None:
    """One turn, printed step by step, without the times in the snapshots' names."""
    agent.on_event = Narrator(width=110)
    with contextlib.redirect_stdout(io.StringIO()) as told:
        agent.run(text)
    print(timeless(told.getvalue()).rstrip())


def agent_with(messages: Sequence[Message], **hooks: Compactor) -> Agent:
    """An agent that goes on from this history."""
    agent = Agent(client, model, tools=tools, **hooks)
    agent.messages = list(messages)
    return agent


shutil.rmtree(playground / "logbook")
look_back = "How many fenders leak?"
run_shown(agent_with(compacted.messages), look_back)

# %% [markdown]
# The summary does not hold it, the file is gone, and yet the answer is right. The agent read the path in
# its second message, searched the snapshot with its own tool, and found the line. That took one request
# more and a few hundred tokens, not the whole history.
#
# Now the same without the path, under the heading of lab 3.

# %%
first, summary, third = compacted.messages
heading, _, rest = summary["content"].partition("\n")
print(timeless(heading), "becomes", COUNT_HEADING)

lost = agent_with([first, user(f"{COUNT_HEADING}\n{rest}"), third])
print("answer:", lost.run(look_back))
print(f"{len(lost.trace)} requests, {lost.trace.sent:,} tokens sent")

# %% [markdown]
# It tries to read each file again, finds none, and says that it does not know. (A real model might guess.)
# That one line in the summary, the path, is the difference between *lost* and *put away*.
#
# Bring the logbook back, and look at one thing more.

# %%
shutil.copytree(shipped_playground() / "logbook", playground / "logbook")
print("days in the logbook:", len(list((playground / "logbook").iterdir())))

# %% [markdown]
# ### What the snapshot does not hold
#
# That snapshot was made of a history without stubs. With both tiers at work, tier 1 has been there first.
# `agent` is still the one of section 6, which ran with both.

# %%
path = write_snapshot(agent.messages, MEMORY)
saved = [text_of(message["content"]) for message in read_snapshot(path) if message["role"] == "tool"]
print("results in the snapshot:", len(saved), "  of them stubs:", saved.count(STUB))
print("holds the fenders:", any("Fenders: 17" in text for text in saved))

# %% [markdown]
# The snapshot is whole: it holds the history as it was at that moment. And at that moment seven results
# were stubs. Their text is in no snapshot.
#
# Mostly that is fine. A stub's call stands before it, and the file can be read again. But the file may have
# changed since, and a command's output, a web page or a measurement may not come a second time. So "tier 1
# loses only what can be read again" is a wager on your tools. (If you cannot take it, write each result into
# the snapshot's folder when it is stubbed.)

# %% [markdown]
# ## 8. Break it on purpose
#
# ### Delete instead of stub
#
# If the old text is worth nothing, why keep the message at all? Delete the old results, and send.

# %%
deleted = [message for message in history if message["role"] != "tool"]
try:
    client.chat.completions.create(model=model, messages=deleted, tools=tools.schemas)
except BadRequestError as error:
    print(error.status_code, error.body["message"])

# %% [markdown]
# These are the words of the real service. Each call needs its result, however old. The same history with
# stubs is taken without complaint:

# %%
completion = client.chat.completions.create(model=model, messages=slim, tools=tools.schemas)
print("taken, and answered:", start_of(completion.choices[0].message.content))

# %% [markdown]
# You could delete call *and* result together, as a whole exchange. That can be sent. But then the agent no
# longer knows that it has read the file. A stub keeps that knowledge, for a few tokens.
#
# ### No acknowledgement
#
# The third of the three messages looks like mere politeness: "Understood. I have the summary...". Leave it
# out, and give the agent a task.

# %%
task = "Read `notes.md`. When is the review due?"
print("--- with the acknowledgement")
run_shown(agent_with(compacted.messages), task)
print("--- without it")
run_shown(agent_with(compacted.messages[:2]), task)

# %% [markdown]
# Without it, two user messages stand in a row: the summary, and then the task. The understudy takes the
# first for something you said to it, thanks you, and does nothing.
#
# Honestly: the understudy does so because a rule in it says so. A real model is less predictable, and
# stranger. It may go on quite well. It may comment on the summary, or repeat it, or do half of the task.
# And some services refuse two user messages in a row. The acknowledgement closes the matter: what comes
# next is new.
#
# ### Keep nothing
#
# How many results must stay? This hook is careless: it stubs *every* long result, also those that the
# model has not read yet. That is what `keep_recent=0` means without the rule for unread results.


# %%
def stub_everything(messages: list[Message]) -> Compaction:
    long = [message["role"] == "tool" and length(message) > 100 for message in messages]
    stubbed = [
        {**message, "content": STUB} if is_long else message
        for message, is_long in zip(messages, long, strict=True)
    ]
    return Compaction(stubbed, any(long), "everything stubbed", 0, 0)


run_shown(agent_with([], after_tools=stub_everything), "Summarise `logbook/day-01.md` in 2 sentences.")

# %% [markdown]
# The text vanishes between the tool run and the next request. The agent has read the file, sees a stub, and
# reads it again; and again. The understudy gives up after three times. A real model may go on until
# `max_turns` stops it, and each round costs a whole request.
#
# Your function does better with `keep_recent=0`, since it spares what is unread. But keep none, and the
# file vanishes as soon as the *next* one is read. This task needs the first file after the second:

# %%
task = (
    "Read `logbook/day-01.md` and `notes.md`, one after another. "
    "Summarise `logbook/day-01.md` in 2 sentences."
)
for keep in (3, 0):
    worker = agent_with([], after_tools=lambda messages, keep=keep: tier_1(messages, keep_recent=keep))
    worker.run(task)
    reads = [call for message in worker.messages for call in calls_of(message)]
    print(f"keep_recent={keep}: {len(worker.trace)} requests, {worker.trace.sent:,} tokens sent")
    print("   read:", ", ".join(json.loads(function_of(call)["arguments"])["path"] for call in reads))

# %% [markdown]
# One file is read twice, and the run that kept less has *sent more*. What an agent is working with should
# stay. Three results is a guess at how much that is.

# %% [markdown]
# ## 9. What compaction costs
#
# Nothing of this is free. Tier 2 costs in three ways, and two of them can be measured here.
#
# ### Lost detail
#
# Ten details out of the ten days. Which are still in the summary? And which are in the snapshot?

# %%
details = {
    "where the key hangs": "behind the barometer",
    "the first catch": "eleven crates",
    "the glazier's price": "118.00",
    "what the crane may lift": "850 kilograms",
    "the start of the regatta": "10:40",
    "the number for the paraffin": "HB-2207",
    "the bottle with the fuel": "AB-6",
    "the depth over the bar": "1.9 metres",
    "who will be race officer": "Oda Brennecke",
    "where the guarantee is": "under G",
}
summary = compacted.messages[1]["content"]
whole = "\n".join(text_of(message["content"]) for message in read_snapshot(compacted.snapshot))
asked = "\n".join(text_of(message["content"]) for message in history if message["role"] == "assistant")

print(f"{'':<29} {'asked for':<10} {'summary':<8} snapshot")
for name, words in details.items():
    found = ["yes" if words in text else "-" for text in (asked, summary, whole)]
    print(f"{name:<29} {found[0]:<10} {found[1]:<8} {found[2]}")

# %% [markdown]
# What nobody asked for is gone from the summary. Even one of the five answers is: the summary has room for
# the last few, and the key was the first. All ten are in the snapshot.
#
# ### One more request, at the worst moment
#
# Tier 2 runs after your input. You have typed your question and pressed Enter. Before the agent even reads
# it, another request goes out, and it carries nearly the whole history:

# %%
next_request = agent_with(compacted.messages)
next_request.run("What may the crane lift?")
print(f"the request for the summary sent  {summary_requests[0]:,} tokens")
print(f"the request with your question    {next_request.trace.requests[0].tokens:,} tokens")

# %% [markdown]
# You wait for the larger one first. With a real model, writing a long summary takes many seconds. And it
# happens exactly when the history is at its largest. Tier 1 costs no request at all; that is one more
# reason to let it do most of the work.
#
# ### A break in tone
#
# A model takes its manner from what it finds in the history: how long its answers were, what it called
# things, what you had settled between you. After tier 2 none of that is left.

# %%
for name, messages in (("before", history), ("after", compacted.messages)):
    own = [text_of(message["content"]) for message in messages if message["role"] == "assistant"]
    print(f"{name:<7} messages in the model's name: {len(own):>2}. The last: {start_of(own[-1], 60)!r}")

# %% [markdown]
# The one message that is left in its name, it never wrote: the acknowledgement is ours. The understudy has
# no manner to lose, so it shows nothing of this. A real model can seem a little strange after a compaction:
# stiffer, more formal, or it explains things to you that you told it.

# %% [markdown]
# ## 10. Turn the knobs
#
# ### `keep_recent`
#
# Another recorded session, of 100 messages, with different numbers of results kept.

# %%
session = recorded("medium")
kept = {
    keep: replay(session, after_tools=lambda messages, keep=keep: tier_1(messages, keep_recent=keep))
    for keep in (0, 1, 2, 3, 5, 8)
}
sweep(kept, knob="keep_recent, in results")

# %% [markdown]
# Each result more that is kept is sent again and again: from none to eight, what is sent more than doubles.
# Each one fewer may have to be read again. In *this* session the re-reads go down once, at three, and keeping
# more does not help. Your sessions may differ: measure.
#
# ### `min_chars`
#
# From which length on is a result worth a stub?

# %%
for characters in (0, 100, 500, 1000, 2000):
    trace = replay(session, after_tools=lambda messages, least=characters: tier_1(messages, min_chars=least))
    struck = sum(1 for request in trace.requests if request.compaction)
    print(f"min_chars={characters:<5} {trace.sent:>8,} tokens sent, struck before {struck} requests")

# %% [markdown]
# Short results ("Wrote review.txt: 308 characters") bring little, and they say what was done. So 100 gives
# away little of the saving. At 2,000 nothing is left of it, and not because all results are shorter. Three of
# this session are longer, and the three newest *of the long ones* are spared: an article of 14,000 characters
# stays to the end. Mind how two settings work together.
#
# ### How often the prefix is rewritten
#
# Now a price that the charts so far did not show. Providers keep the beginning of your last request in a
# **prefix cache**. What your next request shares with it, from the start and without a gap, is *cached*,
# and costs much less. A stub changes a message near the beginning, and from there on everything is fresh.
#
# So a stub each time saves tokens and spoils the cache. `ToolStubs` of labkit is your function with one
# setting more: with `batch_tokens` it waits until a batch of stubs saves so many tokens.

# %%
batches = {
    "none": replay(session),
    "each time": replay(session, after_tools=tier_1),
    "batches of 500": replay(session, after_tools=ToolStubs(batch_tokens=500)),
    "batches of 2,000": replay(session, after_tools=ToolStubs(batch_tokens=2000)),
    "batches of 8,000": replay(session, after_tools=ToolStubs(batch_tokens=8000)),
}
policies(batches)

# %%
print(f"{'stubs':<18} {'rewritten':>9} {'sent':>9} {'cached':>9} {'fresh':>8} {'fresh + cached/10':>18}")
for name, trace in batches.items():
    times = sum(1 for request in trace.requests if request.compaction)
    fresh, cached = trace.sent - trace.cached, trace.cached
    print(f"{name:<18} {times:>9} {trace.sent:>9,} {cached:>9,} {fresh:>8,} {fresh + cached / 10:>18,.0f}")

# %% [markdown]
# Look at the last column: the bill, if a cached token costs a tenth of a fresh one. (It does at several
# providers; yours may differ.) Stubs each time send a third of the tokens, and save almost *nothing* of the
# bill. Batches send more and cost less.
#
# Fewer tokens are not always a smaller bill. They do always leave more room in the window. Which of the two
# you need decides the setting; lab 6 will go into it.
#
# ### The limit of tier 2
#
# At last the limit, with both tiers at work.

# %%
for limit in (2000, 3000, 4000, 6000):
    trace = replay(session, **two_tiers(limit))
    print(f"limit={limit:,}: {trace.sent:>7,} tokens sent, {trace.re_reads} re-reads, {strikes(trace)}")

# %% [markdown]
# The lower the limit, the more often the great operation strikes, and the fewer tokens are sent. What each
# strike costs beside them, section 9 has shown. Once the limit is above what tier 1 leaves, tier 2 has
# nothing to do.
#
# Change something: other limits, `tier_1` with other settings, `ten_days` in place of the medium session.
#
# ### All knobs at once
#
# The explorer replays the session at each move of a knob: with the mouse, or with Tab and the arrow keys.
# (Its tier 2 only rehearses: it writes no snapshots.) Two things to try:
#
# - Raise **batch** from 0 to 250. About as much is sent as before, but a third less of it is fresh: the stubs
#   come seldom and many at once, so the beginning of the history stays cached.
# - Choose the policy **safe-cut** of lab 4 and set its limit to 4,000, too. It sends about half as much. Step
#   through its compactions: what has it lost that your two tiers still have?

# %%
explorer(session, "two-tier", limit=4000)

# %% [markdown]
# ## 11. Say it
#
# Answer each question aloud before you unfold an option. Nothing is graded. (The next cell's code is
# folded, since it holds the answers. Run it like any other.)

# %% tags=["hide-input"]
quiz(
    question(
        "What does each tier lose?",
        right(
            "Tier 1 loses text that a tool can fetch again; tier 2 loses whatever the summary leaves out",
            "So tier 1 may run all the time, if your tools can really fetch it again; and tier 2 writes a "
            "snapshot first.",
        ),
        wrong(
            "Tier 1 loses which files were read; tier 2 loses nothing, since there is a snapshot",
            "A stub keeps its call, so the agent knows what it read. And what is on disk is not in the "
            "request: it is only further away, and has to be looked for.",
        ),
        wrong(
            "Neither loses anything that matters",
            "A file may have changed since it was read. And the key's place was gone from the summary.",
        ),
    ),
    question(
        "Why is the timing of a summary awkward?",
        wrong(
            "Because it must run while a tool call is open",
            "It must not: an exchange that is still open would be torn apart. It waits for the next input.",
        ),
        right(
            "It comes when the history is largest and the user has just asked something and waits",
            "The largest request of the whole session goes out, and only then the question.",
        ),
        wrong(
            "Because the model must be loaded anew",
            "It is an ordinary request to an ordinary model, only a large one.",
        ),
    ),
    question(
        "After tier 2 a model may seem a little strange. Why?",
        wrong(
            "Because the summary was written by another model",
            "It can be, but the same thing happens when it was not.",
        ),
        wrong(
            "Because its window is nearly full",
            "It has just been emptied. That is the one thing that is certainly better now.",
        ),
        right(
            "Because all its own earlier words are gone, and with them the tone and the small agreements",
            "It has only a report about the conversation, and one polite sentence that it never wrote.",
        ),
    ),
    question(
        "What would you never let a summary drop?",
        wrong(
            "The full text of the files read",
            "That is the first thing to drop. The paths are enough: a file can be read again.",
        ),
        right(
            "The user's goal and constraints, and the path of the snapshot",
            "Without the goal the agent does the wrong thing well; a constraint like 'never change tests/' "
            "cannot be read again anywhere; and the path leads back to all the rest.",
        ),
        wrong(
            "The order in which the tools were called",
            "It hardly ever matters. What was changed, and what is still to do, matters.",
        ),
    ),
    question(
        "Why does tier 1 spare a result that the model has not read, even with keep_recent=0?",
        right(
            "Because the model asked for it a moment ago, and would only ask again",
            "You saw it: the file was read three times, and never once was its text sent.",
        ),
        wrong(
            "Because the server answers 400 for a stub there",
            "The server does not care what a result says, only that it is there.",
        ),
        wrong(
            "Because it is always the longest one",
            "It may be short. What counts is that nobody has used it yet.",
        ),
    ),
)

# %% [markdown]
# ## 12. The words
#
# | word | what it means |
# |---|---|
# | **stub** | a short text in place of an old tool result; the message and its id stay |
# | **tier 1** | stubs, after each reply and tool run; asks no model |
# | **tier 2** | snapshot and summary, after the user's input, above a limit; three messages are left |
# | **snapshot** | the whole history in a file, one message a line, before it is replaced |
# | **draft** | a file under a name that nobody reads, until it is whole |
# | **acknowledgement** | the assistant message after a summary, so that the model goes on |
# | **prefix cache** | what a provider remembers of your last request, from its start, at a lower price |
# | **fresh tokens** | those that are not cached |
#
# ## Recap
#
# - Tool results are most of a history, and their worth falls quickly. Stub the old ones, never delete them.
# - The newest stay, and what is unread stays. Else the agent reads in circles.
# - Before the great operation the whole history goes to disk, whole or not at all.
# - The summary names the snapshot, so a lost detail can be looked up by the agent itself. What was a stub
#   by then is a stub in the snapshot, too.
# - Tier 1 runs after tools, tier 2 after the user's input. Most of the time only tier 1 works.
# - Fewer tokens are more room. They are not always a smaller bill.

# %% [markdown]
# ## 13. What the best systems add
#
# You have now built all three published ways. What comes after them is planned as labs 6 to 8. **Those labs
# are not here yet.** Some of their tools are in labkit already.
#
# - **Lab 6, what it costs.** The prefix cache taken seriously: when a compaction pays, batches, a real small
#   model as the summariser.
# - **Lab 7, what survives.** Your rules after the third summary of a summary; your own words carried over
#   word for word; a list of files and commands that is made from the calls and not by a model.
#   (`LedgerCompactor` does the last two.)
# - **Lab 8, your own sessions.** A session file of your own coding agent, replayed under any policy.
#
# One small thing you can have at once: a stub that names its call and the way back.

# %%
described = ToolStubs(describe=True)(history).messages
for message in described[3:5]:
    print(message["content"])

# %% [markdown]
# ## 14. Your own task
#
# An agent with both of your tiers, in the playground. Change the tasks, the limit, or the tiers, and run
# the cell. The last turn asks for something that was read early.

# %%
mine = Agent(client, model, tools=tools, system=SYSTEM, **two_tiers(limit=1000))
for wish in (
    "Read `logbook/day-02.md` and `logbook/day-06.md`. Where does the second fuel sample stand?",
    "Read `logbook/day-04.md` and `notes.md`. When is the review due?",
    "Read `logbook/day-09.md`. What colour is the windward mark?",
    "What was the highest sea of the night?",
):
    print("you:", wish)
    run_shown(mine, wish)

# %%
strip(mine.messages, title="My own task: what is left of the history")

# %% [markdown]
# Go on talking to it. **Send** (or Enter) begins a turn and **Stop** ends it. A compaction, of either tier,
# shows on the strip.

# %%
chat_panel(mine, limit=1000)

# %% [markdown]
# **With a real model.** Put `LABKIT_MODEL` and a key into a file `.env` in your labs' folder, and every
# cell above talks to that model. Then look at section 8 again: what does *it* do without the
# acknowledgement?
#
# **In a terminal.** `labkit chat`, and in it `/policy two-tier`, gives you this agent to talk to. `/info`
# says how large the history is.
#
# **Next:** labs 6 to 8 are not here yet. Until then, take a session of your own, and see what your two tiers
# make of it.
