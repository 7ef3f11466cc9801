# %% [markdown]
# # Lab 2: streaming
#
# In lab 1 every reply arrived in one piece. You pressed Shift+Enter, looked at nothing for a while, and then
# everything was there. A model does not work like that. It writes one token after another, and a service will
# hand them on as they are written, if you ask for it. That is **streaming**.
#
# **What you will see.** For text, streaming is easy: print the pieces. For tool calls it is not. They
# arrive in shreds, several calls woven together, and every service has its own way of shredding. And what
# you printed is not what you must save. You build the two functions that turn a stream back into one
# message.
#
# **Time:** about 40 minutes. **What changed since lab 1:** the tools, the loop and the history stay as
# they are. Only the way in which one reply comes in is new.
#
# As before, run the cells from top to bottom with Shift+Enter. Until your functions pass, labkit's are
# borrowed.

# %% [markdown]
# ## Set up

# %%
from __future__ import annotations

import json
import time
from typing import Any

from openai import BadRequestError

from labkit.charts import arrivals
from labkit.checks import check, hint, question, quiz, right, solution, wrong
from labkit.connect import connect, understudy
from labkit.errors import StreamInterrupted
from labkit.fragments import find_call
from labkit.live import LiveText, Narrator
from labkit.loop import Agent, Event, run_turn
from labkit.messages import Message, assistant, normalise, problems, text_of, tool_result, user
from labkit.playground import fresh_playground, playground_tools
from labkit.streaming import (
    Reply,
    finished_message,
    growing_message,
    interrupted,
    plain_chunks,
    settled,
    whole_reply,
)
from labkit.strip import strip
from labkit.tools import Toolbox, run_tool_call

client, model = connect("understudy-128k")
everything = playground_tools(fresh_playground("lab2"))
tools = Toolbox(everything[name] for name in ("list_files", "read_file", "write_file"))
print("connected to", model, "with the tools", ", ".join(tools.names))

# %% [markdown]
# In this lab we look at raw chunks, slow the line down and break it. The understudy has switches for
# that, a real service has not. So `connect` names it here. In the last section the model of your choice
# gets its turn.

# %% [markdown]
# ## 1. Waiting
#
# To stream, add `stream=True` to a request. What comes back is no longer a reply but an iterator of
# **chunks**. With `include_usage` the service also says at the end how many tokens it counted.


# %%
def stream(messages: list[Message], **settings: Any) -> Any:
    """Send a request and return its chunks, as they come."""
    return client.chat.completions.create(
        model=model, messages=messages, stream=True, stream_options={"include_usage": True}, **settings
    )


chunks = list(plain_chunks(stream([user("What are you?")])))
print(len(chunks), "chunks. The second one:")
print(json.dumps(chunks[1], indent=2))

# %% [markdown]
# (`plain_chunks` turns the client's objects into dicts, which are easier to look at.)
#
# A chunk looks like a reply, with one difference. Where a reply has a `message`, a chunk has a **delta**:
# what is new since the chunk before. Here the delta holds one word. To show the text, print one delta
# after another:

# %%
for chunk in chunks:
    for choice in chunk["choices"]:
        print(choice["delta"].get("content") or "", end="")

# %% [markdown]
# Is it worth it? Measure it. A real model takes its time over every token. The understudy does not, so
# for this cell we slow it down: it waits 30 milliseconds before each chunk.

# %%
slowly = {"understudy": {"fault": "slow", "seconds": 0.03}}
started = time.perf_counter()
slow_chunks, seconds = [], []
for chunk in plain_chunks(stream([user("What are you?")], extra_body=slowly)):
    slow_chunks.append(chunk)
    seconds.append(time.perf_counter() - started)

arrivals(slow_chunks, seconds)

# %% [markdown]
# Each mark is a chunk, and the axis is time. Without streaming you would have waited for the last mark to
# see the first word. With it you wait for the second mark.
#
# The reply as a whole comes no sooner. **Streaming is for the person at the screen.** For the
# agent it changes nothing, and from here on that is the difficulty: the history needs the whole message
# all the same.

# %% [markdown]
# ## 2. Calls come in shreds
#
# Now a reply with tool calls. Two files are asked for, so there will be two calls. Look at the raw deltas, as
# they came over the wire, one line for each chunk.

# %%
TASK = user("Read `hello.txt` and `notes.md`.")
chunks = list(plain_chunks(stream([TASK], tools=tools.schemas)))

for number, chunk in enumerate(chunks, start=1):
    for choice in chunk["choices"]:
        delta = {key: value for key, value in choice["delta"].items() if value}
        print(f"{number:>2} {choice['finish_reason'] or ''} {json.dumps(delta)}")
    if not chunk["choices"]:
        print(f"{number:>2} no choices, but usage: {chunk['usage']['total_tokens']} tokens in all")

# %% [markdown]
# Take a moment for this list. Four things are in it.
#
# 1. Text comes first, in words.
# 2. Then each call begins with a **fragment** that has its `id` and its `name`. No later fragment has them.
# 3. The arguments follow in fragments of a few characters, and the two calls are *woven together*. Only the
#    `index` tells which fragment belongs to which call.
# 4. The last chunk has no choices at all. It brings the usage.
#
# Text was easy: append every piece to one string. What happens if you do the same with arguments?

# %%
one_string = ""
for chunk in chunks:
    for choice in chunk["choices"]:
        for fragment in choice["delta"].get("tool_calls") or []:
            one_string += fragment["function"].get("arguments") or ""

print(one_string)
try:
    json.loads(one_string)
except ValueError as error:
    print("Not JSON:", error)

# %% [markdown]
# Nonsense. All the characters are there, and both calls are lost.
#
# There is a second naive way, and it looks more innocent: save what was printed. The text was on the
# screen, so it goes into the history, and the results of the calls after it.

# %%
printed = "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])
history = [
    TASK,
    assistant(printed),
    tool_result("call_0001", "Hello from the playground ..."),
    tool_result("call_0002", "# Notes ..."),
]
try:
    client.chat.completions.create(model=model, messages=history, tools=tools.schemas)
except BadRequestError as error:
    print(error.status_code, error.body["message"])

# %% [markdown]
# The message that was saved has no calls, so its results belong to nothing, and the server refuses the
# history.
#
# **What was printed is not what must be saved.** What must be saved is the message that the model would
# have sent if you had not asked for a stream. You build it now, in two steps: one delta, then a whole
# stream.

# %% [markdown]
# ## 3. One delta
#
# `growing_message()` is the message before its first delta. It holds lists, because pieces are collected
# now and joined at the end:

# %%
growing_message()

# %% [markdown]
# When the stream is over, `finished_message` joins the pieces and makes an assistant message of them.
# Here is one that was filled by hand. Look at how a call lies in the list `calls` while it grows.

# %%
by_hand = growing_message()
by_hand["content"] += ["One ", "moment."]
by_hand["calls"].append({"index": 0, "id": "c1", "name": "read_file", "arguments": ['{"path": ', '"a.md"}']})
print(json.dumps(finished_message(by_hand), indent=2))

# %% [markdown]
# **Exercise 2.1: `merge_delta`**
#
# - *In:* a growing message, and one delta.
# - *Out:* nothing. The growing message has changed *in place*: it holds what was in the delta, too.
# - *Example:* after the deltas `{"content": "Hel"}` and `{"content": "lo"}`, `growing["content"]` is
#   `["Hel", "lo"]`.
# - *Why it matters:* here the two calls are kept apart. One fragment in the wrong place, and both are broken.
#
# The text is one line: `text_of(content)` gives `""` for `None`. A `refusal` is text too, in a field of its
# own: some services send the words there with which a model declines. The calls are the real work. For each
# fragment, find the call it belongs to, and if there is none yet, append a new one: `{"index": ..., "id":
# None, "name": None, "arguments": []}`.
#
# How do you find it? By its index, says the protocol. But some services send no index, or the same for every
# call. So ask three questions, in this order:
#
# | the fragment has | it belongs to |
# |---|---|
# | an id | the call with that id; if there is none, a new call begins |
# | no id, but an index | the newest call with that index |
# | neither | the newest call |
#
# Any field may be missing or `None`, so read with `.get`. (labkit has a search of its own, `find_call`,
# which knows some rarer cases as well. You will see it in the solution. Write your own first: it is five
# lines.)

# %% exercise="2.1" function="labkit.streaming:merge_delta" minutes=10 difficulty=2
# hint: Do the text first: `growing["content"].append(text_of(delta.get("content")))`, and the same for
#   "refusal". Then walk through `delta.get("tool_calls") or []`.
# hint: Finding is a choice among `growing["calls"]`. With an id: those whose `call["id"]` is that id. Else,
#   with an index: those whose `call["index"]` is that index. Else: all of them. If that leaves any, take
#   the last one; if it leaves none, append a new call and take that.
# hint: Once you have the call, three lines are left. With `function = fragment.get("function") or {}`:
#   `call["id"] = call["id"] or fragment.get("id")`, `call["name"] = call["name"] or function.get("name")`,
#   `call["arguments"].append(function.get("arguments") or "")`.

# %%
merge_delta = check("2.1", merge_delta)

# %% [markdown]
# Your function at work on the stream from above, up to the middle. The two calls are kept apart, and
# neither is JSON yet. That is as it should be: **arguments may only be read when the stream has ended.**

# %%
growing = growing_message()
for chunk in chunks[:11]:
    for choice in chunk["choices"]:
        merge_delta(growing, choice["delta"])

for call in growing["calls"]:
    print(call["id"], call["name"], "".join(call["arguments"]))

# %% [markdown]
# ## 4. A whole stream
#
# Now the loop around it: from the first chunk to a `Reply`, the same kind of object that `whole_reply`
# makes. Most of it is plain. The hard question is how you know that you have the whole reply.
#
# The iterator comes to an end, of course. But it also comes to an end when the line was cut. Here is the same
# request on a line that ends after nine chunks, politely, without any error.

# %%
unfinished = {"understudy": {"fault": "unfinished", "after": 9}}
cut_short = list(plain_chunks(stream([TASK], tools=tools.schemas, extra_body=unfinished)))
print("chunks:", len(cut_short))
print("finish reasons:", [choice["finish_reason"] for chunk in cut_short for choice in chunk["choices"]])

# %% [markdown]
# Nothing was raised. A `for` loop over these chunks ends like any other. Only one thing is missing: no
# chunk has a **finish reason**. A reply is whole when its finish reason has come, and at no other time.
#
# These are the reasons you will meet:
#
# | finish reason | what it means | may its calls run? |
# |---|---|---|
# | `stop`, `tool_calls` | the model was done | yes |
# | `length` | the token limit was reached in the middle | no: the last call may be half a call |
# | `content_filter` | the service stopped the reply | no |
# | none | the stream broke off | no |
#
# **Exercise 2.2: `collect`**
#
# - *In:* the chunks, and maybe a function `on_text` that wants to see each piece of text as it comes.
# - *Out:* `Reply(message, finish_reason, usage)`.
# - *Raises:* `StreamInterrupted` when the stream broke off. It carries what came so far as `.partial`, so
#   that it can be shown. It must not get into the history.
# - *Example:* the stream of section 2 gives a reply with two calls, finish reason `tool_calls`, and its
#   usage.
# - *Why it matters:* whoever takes half a reply for a whole one runs half a call.
#
# What you have:
#
# | | |
# |---|---|
# | `plain_chunks(chunks)` | each chunk as a dict; raises `ConnectionError` when the stream breaks or fails |
# | `growing_message()`, `merge_delta`, `finished_message(growing)` | from section 3 |
# | `settled(before, now)` | the finish reason so far: a later chunk may have none, or another |
# | `interrupted(growing, usage, "what happened")` | makes the `StreamInterrupted` that you raise |

# %% exercise="2.2" function="labkit.streaming:collect" minutes=10 difficulty=2
# hint: Start with three variables: the growing message, a finish reason that is None, and a usage that is
#   None. One loop over plain_chunks fills them. The Reply is made after the loop.
# hint: Inside the loop: keep the chunk's usage if it has one; then for each choice in `chunk.get("choices")
#   or []` merge its delta, keep its finish reason, and show its text. Do not stop at the finish reason:
#   the usage comes later.
# hint: Put the loop into `try:` and answer `except ConnectionError as error:` with
#   `raise interrupted(growing, usage, f"The stream broke off: {error}.") from error`. After that,
#   `if finish_reason is None:` raise `interrupted` as well. Then return
#   `Reply(finished_message(growing), finish_reason, usage)`.

# %%
collect = check("2.2", collect)

# %% [markdown]
# The stream of section 2 once more, now as one message. Compare it with the message that comes when you
# do not stream at all.

# %%
reply = collect(chunks)
print(json.dumps(reply.message, indent=2))
print("finish reason:", reply.finish_reason, " usage:", reply.usage["total_tokens"], "tokens")

unstreamed = whole_reply(client.chat.completions.create(model=model, messages=[TASK], tools=tools.schemas))
print("the same message without streaming:", reply.message == unstreamed.message)

# %% [markdown]
# ## 5. Watch it work
#
# First the timeline of that stream: one mark for each piece, in the row of what it belongs to. The thin
# line is the order of arrival. It runs to and fro between the two calls, and your `merge_delta` followed
# it.

# %%
arrivals(chunks)

# %% [markdown]
# And now the agent of lab 1, streaming. Only `ask` is new: it asks for a stream and lets your `collect`
# make the reply. The loop is the same `run_turn`. The line is slowed down a little, so that you can see the
# text grow.


# %%
gently = {"understudy": {"fault": "slow", "seconds": 0.01}}


def ask(messages: list[Message]) -> Reply:
    live = LiveText()
    chunks = stream(normalise(messages), tools=tools.schemas, extra_body=gently)
    reply = collect(chunks, on_text=live)
    live.finish()
    return reply


def run_call(call: Message) -> Message:
    print("  calls", call["function"]["name"], call["function"]["arguments"])
    return run_tool_call(call, tools)


history = [user("Read `big-article.md` and give its main point in three sentences.")]
run_turn(history, ask, run_call)
print("history:", [message["role"] for message in history])

# %% [markdown]
# The history is the one that lab 1 would have made. The loop never knew that anything was streamed.

# %%
strip(history, title="A streamed turn")

# %% [markdown]
# The text grew while it came: that is `LiveText`. In a notebook it draws its text again each time, and a
# fast model would have it draw hundreds of times a second, which no browser likes. So it draws about ten
# times a second at most, and the last piece always. Count it, with a clock of our own: a thousand pieces
# in five seconds.


# %%
class Screen:
    """A display that only counts how often it is drawn."""

    takes_pieces = False
    drawn = 0

    def write(self, text: str) -> None:
        self.drawn += 1


screen, now = Screen(), [0.0]
live = LiveText(clock=lambda: now[0], frame=screen)
for _ in range(1000):
    live("word ")
    now[0] += 0.005
live.finish()
print("1,000 pieces, drawn", screen.drawn, "times")

# %% [markdown]
# labkit's `Agent` does the same with `stream=True`, and `Narrator` shows the text as it comes. With it
# you can see that streaming changes nothing for the history: run one task both ways and compare.

# %%
whole = Agent(client, model, tools)
whole.run(TASK["content"])

streamed = Agent(client, model, tools, stream=True, on_event=Narrator())
streamed.run(TASK["content"])
print("\nthe same history:", streamed.messages == whole.messages)

# %% [markdown]
# ## 6. Break it on purpose
#
# ### Four dialects
#
# Many services say that they speak OpenAI's protocol. Most do, with an accent. Here are four small
# streams of the kinds that real services send.


# %%
def chunk_of(*calls: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"tool_calls": list(calls)}, "finish_reason": finish}]}


DIALECTS = {
    "no index, whole calls in one chunk": [
        chunk_of(
            {"id": "a", "function": {"name": "read_file", "arguments": '{"path": "hello.txt"}'}},
            {"id": "b", "function": {"name": "read_file", "arguments": '{"path": "notes.md"}'}},
            finish="tool_calls",
        ),
    ],
    "id and name in every fragment": [
        chunk_of({"index": 0, "id": "a", "function": {"name": "read_file", "arguments": '{"path": '}}),
        chunk_of({"index": 0, "id": "a", "function": {"name": "read_file", "arguments": '"hello.txt"}'}}),
        chunk_of(finish="tool_calls"),
    ],
    "index 0 for every call": [
        chunk_of({"index": 0, "id": "a", "function": {"name": "list_files", "arguments": "{}"}}),
        chunk_of(
            {"index": 0, "id": "b", "function": {"name": "read_file", "arguments": '{"path": "hello.txt"}'}}
        ),
        chunk_of(finish="tool_calls"),
    ],
    "null where text is expected": [
        chunk_of({"index": 0, "id": "a", "function": {"name": "list_files", "arguments": None}}),
        chunk_of({"index": 0, "id": None, "function": {"name": None, "arguments": "{}"}}),
        chunk_of(finish="stop"),
    ],
}

# %% [markdown]
# Two readers try them: your `collect`, and one that was written from the protocol's description, and
# trusts it.


# %%
def by_the_book(chunks: list[dict[str, Any]]) -> list[str]:
    """The calls of a stream, found by index alone; every string is appended."""
    calls: dict[int, dict[str, str]] = {}
    for chunk in chunks:
        for fragment in chunk["choices"][0]["delta"].get("tool_calls") or []:
            call = calls.setdefault(fragment["index"], {"name": "", "arguments": ""})
            if "name" in fragment["function"]:
                call["name"] += fragment["function"]["name"]
            call["arguments"] += fragment["function"]["arguments"]
    return [f"{call['name']}({call['arguments']})" for call in calls.values()]


def calls_in(reply: Reply) -> list[str]:
    return [f"{call['function']['name']}({call['function']['arguments']})" for call in reply.tool_calls]


for name, dialect in DIALECTS.items():
    try:
        book = "  ".join(by_the_book(dialect))
    except Exception as error:
        book = f"raises {type(error).__name__}: {error}"
    print(name)
    print("   by the book: ", book)
    print("   your collect:", "  ".join(calls_in(collect(dialect))))

# %% [markdown]
# Four dialects, four failures, and only two of them are loud. The other two give a call that nobody made,
# under a name that no tool has. The model would be told that its call was wrong, when it was the reader
# that was.
#
# The last stream also says `stop` although there is a call in it. That happens. So look for calls in the
# message, not in the finish reason.
#
# ### Pull the plug
#
# Now the line breaks for real, in the middle of the arguments. An agent is asked to read two files, and the
# understudy drops the connection after ten chunks.

# %%
agent = Agent(client, model, tools, stream=True, on_event=Narrator())
understudy().faults.add("cut", after=10)

broken: Reply | None = None
try:
    agent.run(TASK["content"])
except StreamInterrupted as error:
    broken = error.partial
    print("\nStreamInterrupted:", error)

# %% [markdown]
# The error has what came before the break: the text, which you may leave on the screen, and two half
# calls, which are good for nothing. Suppose we had saved it as the reply:

# %%
print(calls_in(broken))
for problem in problems([*agent.messages, broken.message]):
    print(" -", problem.text)

# %% [markdown]
# Every one of these is a reason for a server to refuse the history, now and in every later request. That
# is why `collect` *raises*: the half reply never reaches the line that appends it. The history is still
# what it was before the request, fit to be sent, and the conversation goes on as if nothing had been.

# %%
print("history:", [message["role"] for message in agent.messages])
print("problems:", problems(agent.messages) or "none")
print()
agent.run("Go on.")
strip(agent.messages, title="After the break: no trace of the half reply")

# %% [markdown]
# *Turn the knob:* change `after=10` to 3, 7 and 14, and run these cells again. With 14 both calls are
# whole. Would you run them? Nothing says that no third call was to come, or that a line was not still
# missing from a file.
#
# The same holds when *you* break it off: stop a streaming cell with the stop button (or Ctrl-C in a
# terminal), and the history is as sound as before.
#
# ### Half a call
#
# The last one is the most dangerous, because nothing breaks. The stream ends properly, with a finish
# reason. But the reason is `length`: the reply reached its limit of tokens in the middle of a call.

# %%
report = [user("Write the text `All boats are in. The gate is shut.` into `report.txt`.")]
limited = collect(stream(report, tools=tools.schemas, max_completion_tokens=24))
print("finish reason:  ", limited.finish_reason)
print("call:           ", *calls_in(limited))
print("calls_may_run:  ", limited.calls_may_run)

# %% [markdown]
# This half is not JSON, so a careful tool would refuse it. But do not rely on that. Some services close
# the open quotes and brackets for you. Then half a file is written and nobody is told. Or think of a tool
# that deletes, and of a path that breaks off after the first folder.
#
# `calls_may_run` is false, and `run_turn` looks at it. Here is a turn in which the first request has too
# small a limit. Watch what the model is told.

# %%
limits = [24]


def ask_with_limit(messages: list[Message]) -> Reply:
    settings = {"max_completion_tokens": limits.pop()} if limits else {}
    return collect(stream(normalise(messages), tools=tools.schemas, **settings))


run_turn(report, ask_with_limit, lambda call: run_tool_call(call, tools))
for message in report[1:]:
    calls = [call["function"]["arguments"] for call in message.get("tool_calls", [])]
    print(f"{message['role']:<10}", text_of(message["content"]), *calls)

# %% [markdown]
# The half call was not run. It got a result all the same, because every call needs one, and the result
# says what happened. The model made the call again, whole this time.

# %% [markdown]
# ## 7. Say it
#
# Answer each question aloud before you unfold an option. Nothing is graded. (The next cell's code is
# folded, since it holds the answers. Run it like any other.)

# %% tags=["hide-input"]
quiz(
    question(
        "Why do you save the message, and not the text that was printed?",
        wrong("The printed text may have lost characters", "It has them all. That is not what is missing."),
        right(
            "The calls were never printed, and their results need them",
            "A result must follow the message with its call. Without it the server refuses the history.",
        ),
        wrong("The message takes fewer tokens", "It takes more: the calls are in it."),
    ),
    question(
        "When may the arguments of a call be read as JSON?",
        wrong(
            "As soon as they parse",
            "A beginning can be valid by itself: 1 is, and 12 was meant. You would run another call.",
        ),
        wrong(
            "When the next call begins",
            "The calls may be woven together: the first goes on after the second has begun.",
        ),
        right(
            "When the stream has ended with a finish reason",
            "Only then do you know that no fragment is missing. And even then, reading them may fail.",
        ),
    ),
    question(
        "The finish reason is length, and the message has a call whose arguments are valid JSON. Run it?",
        wrong(
            "Yes, it is complete",
            "Perhaps it is. Or a service has closed the brackets of half a call. You cannot tell.",
        ),
        right(
            "No. It gets a result that says the reply was cut short",
            "The model can make the call again, and shorter. Half a command may cost more than asking again.",
        ),
        wrong(
            "No. Take the message out of the history",
            "Then the model does not know what happened, and runs into the same limit with the next reply.",
        ),
    ),
    question(
        "The iterator has come to its end and nothing was raised. Is the reply whole?",
        wrong(
            "Yes, that is what the end of an iterator means",
            "A line that was cut politely looks just the same.",
        ),
        right(
            "Only if a finish reason came",
            "It is the one sign that the model was done. Without it, treat the stream as broken.",
        ),
        wrong("Only if the usage came", "Many services never send the usage, and their replies are whole."),
    ),
    question(
        "What does streaming make faster?",
        wrong("The whole reply", "The last chunk comes no earlier than the whole reply would have."),
        wrong(
            "The agent: it can run the first call while the second is still coming",
            "It could not: see the second question.",
        ),
        right(
            "The first word on the screen",
            "That is all, and for a person it is a lot. A script that nobody watches need not stream.",
        ),
    ),
)

# %% [markdown]
# ## 8. The words
#
# | word | meaning |
# |---|---|
# | **stream** | a reply that is handed on while it is being written |
# | **chunk** | one piece of a stream, as it comes over the wire |
# | **delta** | the part of a chunk that says what is new in the message |
# | **fragment** | the part of a delta that belongs to one tool call |
# | **finish reason** | why the model stopped; the sign that the reply is whole |
# | **usage** | the service's own count of the tokens sent and received |
#
# ## Recap
#
# - Streaming is for the person at the screen. The history gets one whole message, as if nothing had been
#   streamed.
# - A fragment is put where it belongs by id, by index, or by place. Id and name are set once, arguments
#   are collected.
# - Nothing is read or run before the finish reason has come, and nothing runs after `length`.
# - A stream that broke off is an error with the part so far in it. That part never gets into the history.
#
# **Next:** [lab 3](03_count_compaction.ipynb). The history is sound now, whatever happens on the line. But it
# still grows. It is time to make it shorter.

# %% [markdown]
# ## 9. Your own task
#
# An agent tells you what it does through events, and you decide what to show. An event has a `kind`:
# `request`, `text`, `reply`, `tool_result`, `compaction` or `recorded`. Change what `show` prints, or the
# task.
#
# Ideas: count the words as they come; print only the names of the tools; raise an exception when a file
# has been written, and look at `problems(agent.messages)` afterwards.
#
# `connect()` without a name takes the model that your environment names (lab 1 says how), else the
# understudy.


# %%
def show(event: Event) -> None:
    if event.kind == "text":
        print(event.text, end="", flush=True)
    if event.kind == "tool_result":
        print(f"\n[a tool returned {len(event.text):,} characters]")


agent = Agent(*connect(), tools, stream=True, on_event=show)
answer = agent.run("List the files, then read `hello.txt`.")
