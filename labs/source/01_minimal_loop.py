# %% [markdown]
# # Lab 1: the minimal loop
#
# A coding agent is a small thing: a list, a model, and a loop around both. In this lab you build all of
# it but the model, and let it read real files.
#
# **What you will see.** A model has no memory. The list of messages *is* the memory, and the whole of it
# is sent again with every request. So the bill grows with the *square* of the requests. That one fact is
# why the labs after this one exist.
#
# **Time:** about 45 minutes. **You need:** Python, and nothing else. No key, no network.
#
# **How a lab works.** Run the cells from top to bottom with Shift+Enter. Three of them ask you to write a
# function. Until yours passes its check, labkit's own function is *borrowed*, so everything below works
# from the first minute and nothing can block you. Stuck? `hint("1.1")` gives the next hint for exercise
# 1.1, and `solution("1.1")` shows labkit's way.

# %% [markdown]
# ## Set up
#
# This cell imports what the lab uses. You do not have to read it now.

# %%
from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import pairwise
from textwrap import fill
from typing import Any

from openai import BadRequestError

from labkit.charts import growth, said_against_sent
from labkit.checks import check, hint, question, quiz, right, solution, wrong
from labkit.connect import connect
from labkit.live import Narrator
from labkit.loop import CUT_SHORT, STOPPED, Agent, Ask, RunCall
from labkit.messages import (
    Message,
    assistant,
    calls_of,
    function_of,
    normalise,
    problems,
    system,
    text_of,
    tool_call,
    tool_result,
    user,
)
from labkit.playground import fresh_playground, playground_tools
from labkit.streaming import Reply, whole_reply
from labkit.strip import strip
from labkit.tokens import TokenCounter
from labkit.tools import Toolbox, call_parts, explain, read_arguments, tool
from labkit.trace import Trace

# %% [markdown]
# Now connect to a model. `connect()` returns an OpenAI client and a model's name.
#
# Here the model is the **understudy**. It is *not* a language model: it is a set of rules that plays one,
# so that the labs cost nothing and give the same output every time. It stands behind the real wire
# protocol, with a real server on your own computer, so the code you write here is the code you would
# write for any service.

# %%
client, model = connect()
print("connected to", model)

# %% [markdown]
# ## 1. A model has no memory
#
# A **message** is a dict with a `role` and a `content`. You send the model a list of them, and it sends
# one message back. That is one **request**.
#
# Tell the model something, and then ask about it.

# %%
first = {"role": "user", "content": "My boat is called Perrin."}
completion = client.chat.completions.create(model=model, messages=[first])
reply = whole_reply(completion)
print(reply.text)

# %% [markdown]
# `completion` is what the SDK returns, with much around it. `whole_reply` takes out what we need:
# `reply.message` is the model's message as a plain dict, and `reply.text` is its text.
#
# We shall send many requests, so give them a name. Then ask.


# %%
def send(messages: list[Message], toolbox: Toolbox | None = None) -> Reply:
    """One request: the messages go out, one reply comes back. A toolbox is offered to the model."""
    offer = {"tools": toolbox.schemas} if toolbox else {}
    return whole_reply(client.chat.completions.create(model=model, messages=messages, **offer))


second = {"role": "user", "content": "What is my boat called?"}
print(send([second]).text)

# %% [markdown]
# The second request knows nothing of the first. No model does: between two requests it keeps nothing at
# all. It knows what it was trained on, and it knows the list you send.
#
# So if you want it to remember, send everything again: what you said, what it said, and then the new
# question.

# %%
chat = [first, reply.message, second]
print(send(chat).text)

# %% [markdown]
# The list you send is called the **history**. It is all the memory there is. What is not in it was never
# said.

# %% [markdown]
# ## 2. A model cannot do anything
#
# Next to these labs lies a **playground**: a folder with a few texts and a small code project. This cell
# makes a fresh copy of it for this lab, and takes four of the six tools that work there and nowhere else.
# A `Toolbox` holds tools by their names.

# %%
all_six = playground_tools(fresh_playground("lab1"))
tools = Toolbox(all_six[name] for name in ("list_files", "read_file", "search_text", "write_file"))
print(tools)

# %% [markdown]
# Ask the model for the content of a file in that folder.

# %%
request = user("Read `hello.txt` and tell me what it says.")
print(send([request]).text)

# %% [markdown]
# It cannot. A model turns text into text; it has no hands. (`user("...")` is labkit's short way to write
# `{"role": "user", "content": "..."}`.)
#
# What you can do is *offer* it a tool. An offer is a description: the tool's name, what it does, and
# which arguments it takes. labkit makes it from a function's signature and docstring.

# %%
print(json.dumps(tools["read_file"].schema, indent=2))

# %% [markdown]
# Now the same question, with the tools offered.

# %%
reply = send([request], tools)
print(json.dumps(reply.message, indent=2))

# %% [markdown]
# Read this dict slowly, the whole lab hangs on it.
#
# The model has not read the file, though its `content` sounds as if it had. It has answered with a **tool
# call**: a wish, in writing. The call has an `id`, the tool's `name`, and `arguments`, which are a *string*
# that should hold JSON. Nothing happens until somebody runs it.
#
# And until somebody does, the history is not fit to be sent. Try it:

# %%
history = [request, reply.message]
try:
    send(history, tools)
except BadRequestError as error:
    print(error.status_code, error.body["message"])

# %% [markdown]
# Every call needs a **tool result** directly after it, tied to the call by its id. These are the words of
# the real service, and you will meet them again.
#
# So let us run the call by hand.

# %%
call = reply.tool_calls[0]
arguments = json.loads(call["function"]["arguments"])
content = tools[call["function"]["name"]](**arguments)

history.append({"role": "tool", "tool_call_id": call["id"], "content": content})
answer = send(history, tools)
history.append(answer.message)
print(answer.text)

# %% [markdown]
# You have just been an agent's loop: you asked, ran what the model wished for, and asked again. From one
# input of the user to the final answer, that is one **turn**.
#
# Here is the history as a **strip**, the picture that runs through all the labs. Each block is a message
# and each width its length; the bracket ties the call to its result. (The blocks add up to three tokens
# less than the whole: those open the model's reply.)

# %%
strip(history, title="One turn with one tool call")

# %% [markdown]
# A turn of plain chat adds two messages to the history. A turn with one tool call adds four: your
# message, the call, the result, the answer. And a real task takes not one call but dozens. The more an
# agent can do, the faster its list grows.
#
# So before we build anything else, let us be able to say how long a list is.

# %% [markdown]
# ## 3. How long is a history?
#
# A model reads **tokens**: pieces of words, about four characters of English each. What a model can take
# in is measured in tokens, and so is the bill.
#
# Exact counting needs the model's own table of tokens. Often a rough estimate is enough, and the simplest
# one divides the number of characters by a constant.
#
# **Exercise 1.1: `estimate_tokens`**
#
# - *In:* a history, and how many characters count as one token.
# - *Out:* an integer: all characters, divided, rounded up.
# - *Example:* `[user("hello")]` has 5 characters, so with 2 characters a token it gives 3.
# - *Why it matters:* an agent has to know how much it sends *before* it sends it.
#
# Mind what counts. A message's content may be a string, `None` (a message that only calls tools may say
# nothing), or a list of parts. And a call's arguments are text too: they are sent like everything else.
#
# You have `text_of(content)`, which gives the text of all three kinds of content; `calls_of(message)`,
# the list of a message's calls (empty if there are none); `function_of(call)`, the part of a call with
# name and arguments; and `math`.

# %% exercise="1.1" function="labkit.tokens:estimate_tokens" minutes=6 difficulty=1
# hint: Start with a counter at 0 and walk through the messages. For each one, add the length of its text.
# hint: `len(text_of(message.get("content")))` works for a string, for None and for a list of parts.
#   Then a second, inner loop adds the arguments of each call of the message.
# hint: The inner loop is `for call in calls_of(message):`, and it adds
#   `len(function_of(call).get("arguments") or "")`. After both loops, return
#   `math.ceil(characters / chars_per_token)`.

# %%
estimate_tokens = check("1.1", estimate_tokens)

# %% [markdown]
# How good is the estimate? `TokenCounter` counts exactly, with a table of tokens that real models use
# (`o200k_base`). Let both measure the turn from above, message by message, and then the longest text of
# the playground.

# %%
counter = TokenCounter()
article = user(tools["read_file"](path="big-article.md"))

print("message      ≈ estimate    exact    ≈ / exact")
for message in [*history, article]:
    estimate, exact = estimate_tokens([message]), counter.message(message)
    print(f"{message['role']:<12} {estimate:>10,} {exact:>8,} {estimate / exact:>12.2f}")

# %% [markdown]
# On the long English text, the last line, the estimate is about twice too high. On the call it is even a
# little too low: a message also costs a few tokens for its role, its bounds and its tool's name, and the
# estimate does not see those.
#
# Too high is mostly the safe side: you stop a little early. Lab 4 measures the same estimate on Chinese,
# on code and on JSON, where it errs on the other side.

# %% [markdown]
# ## 4. From a call to a message
#
# In section 2 you ran a call by hand, and it went well. Calls do not always go well. Here is the same
# code as a function, and four calls that a model might send. Three have something wrong with them.

# %%
calls = [
    tool_call("c1", "read_file", '{"path": "hello.txt"}'),
    tool_call("c2", "raed_file", '{"path": "hello.txt"}'),
    tool_call("c3", "read_file", '{"path": "hello.txt"'),
    tool_call("c4", "read_file", '["hello.txt"]'),
]


def run_trustfully(call: Message, toolbox: Toolbox) -> str:
    function = call["function"]
    return toolbox[function["name"]](**json.loads(function["arguments"]))


for call in calls:
    try:
        print(call["id"], "gives", repr(run_trustfully(call, tools))[:40] + "...")
    except Exception as error:
        print(call["id"], "RAISES", type(error).__name__)

# %% [markdown]
# Without the `try` in that cell, each of the three would have ended the turn, and your program with it.
# It would also have left a call without a result in the history, and you have seen what the server says
# to that.
#
# But look at it from the model's side. It made a slip: a misspelt name, a missing bracket. It could put
# it right at once, if only somebody *told* it. So an error is not the end of the turn. **An error is a
# result**, like any other, and the model reads it with the next request.
#
# **Exercise 1.2: `run_tool_call`**
#
# - *In:* a call as the model sent it, and the toolbox.
# - *Out:* a tool message. Always, whatever is in the call.
# - *Example:* a call of `read_file` gives `{"role": "tool", "tool_call_id": "c1", "content": "Hello from
#   ..."}`; a call of `raed_file` gives the same dict with a content that starts with `"Error: "` and says
#   what to do.
# - *Why it matters:* everything that a model sends comes from outside. This function is the border, and
#   nothing gets past it as an exception.
#
# What you have:
#
# - `toolbox[name]`: the tool of that name. An unknown name raises, and the exception's text lists the
#   names there are.
# - `.run(arguments)`: calls a tool with a dict of arguments and returns text. It raises for arguments
#   that do not fit, and lets the tool's own exceptions out.
# - `json.loads(text)`: reads JSON, and raises for what is none. `read_arguments(raw, found)` does the
#   same with better words (`found` is the tool), and takes empty text for no arguments.
# - `str(error)`: what an exception says. `explain(error, name)` says it with advice for the
#   model. Neither puts "Error: " in front.
# - `call_parts(call)`: id, name and raw arguments of a call, also when some of them are missing.

# %% exercise="1.2" function="labkit.tools:run_tool_call" minutes=8 difficulty=2
# hint: Three things can raise: finding the tool, reading the arguments, and running it. One `try` can
#   hold all three. Only the id and the name are needed outside.
# hint: Inside the `try`, make `content` from the tool's result. In `except Exception as error:`, make
#   `content` from the error, with "Error: " in front. Return the message after both: one way out.
# hint: `call_id, name, raw = call_parts(call)`, then in the `try`: `found = toolbox[name]` and
#   `content = found.run(read_arguments(raw, found))`. At the end:
#   `return {"role": "tool", "tool_call_id": call_id, "content": content}`.

# %%
run_tool_call = check("1.2", run_tool_call)

# %% [markdown]
# The same four calls again. Read the error texts as if you were the model: is there enough in them to do
# better?

# %%
for call in calls:
    print(fill(run_tool_call(call, tools)["content"], 90))
    print()

# %% [markdown]
# ## 5. The loop
#
# Now the heart of it. You did it by hand in section 2; say it in a sentence before you write it:
#
# > Ask the model. Append its reply. If it holds no calls, it is the answer. Else run each call in order,
# > append each result, and ask again. After `max_turns` requests, stop and say so.
#
# **Exercise 1.3: `run_turn`**
#
# - *In:* `messages`, a history that ends with the user's message; `ask`, a function that takes a history
#   and returns a reply; `run_call`, a function that takes a call and returns its tool message; and
#   `max_turns`, the most requests that this turn may make.
# - *Out:* the text of the answer. And `messages` has grown *in place*: the caller's list is the memory.
# - *Example:* if the model calls one tool and then answers, `messages` grows from 1 to 4.
# - *Why it matters:* this is the agent. All that comes in later labs hangs on this loop, and the loop
#   itself will not change.
#
# A reply has `.message` (the dict to append), `.tool_calls` (a list, maybe empty) and `.text`. It also
# has `.calls_may_run`. That is false when the reply was cut short at its length limit: half a call is not
# run, it gets the text `CUT_SHORT` as its result. Lab 2 shows how that comes about.
#
# When the limit strikes, the history must still be fit to send. So every call has its result, and the
# last message is an assistant message that says why there is no answer:
# `STOPPED.format(requests=max_turns)`, or words of your own. `assistant(text)` and `tool_result(call_id,
# text)` build the two kinds of message.

# %% exercise="1.3" function="labkit.loop:run_turn" minutes=10 difficulty=2
# hint: `for _ in range(max_turns):` is the loop, with exactly one `ask(messages)` inside. The order of what
#   follows is the order of the sentence above.
# hint: Append `reply.message` first, whatever is in it. Then: no `reply.tool_calls`? Return
#   `reply.text`. Else a second loop, over all of them, appends one tool message for each.
# hint: In the inner loop: `if reply.calls_may_run:` append `run_call(call)`, `else:` append
#   `tool_result(call["id"], CUT_SHORT)`.
# hint: After the outer loop the limit has struck: append `assistant(STOPPED.format(requests=max_turns))` and
#   return the same text.

# %%
run_turn = check("1.3", run_turn)

# %% [markdown]
# ## 6. Watch it work
#
# The loop needs an `ask` and a `run_call`. The function below makes both, prints each step, and keeps a
# **trace**: what every request sent, in tokens, counted exactly.
#
# One thing in it is new. What goes over the wire is `normalise(messages)`: the history made fit to send.
# For a sound history that is the history itself. Section 7 shows when it is not.


# %%
def talk(
    history: list[Message],
    text: str,
    toolbox: Toolbox = tools,
    max_turns: int = 12,
    show: bool = True,
) -> Trace:
    """One turn of your agent. The history grows; the trace says what each request sent."""
    trace = Trace()
    say = print if show else lambda line: None

    def ask(messages: list[Message]) -> Reply:
        sent = normalise(messages)
        size = counter.history(sent, toolbox.schemas)
        trace.add(
            sent,
            counter.counts(sent),
            tokens=size,
            tool_tokens=counter.tools(toolbox.schemas),
        )
        say(f"request {len(trace)} sends {len(sent)} messages, {size:,} tokens")
        return send(sent, toolbox)

    def run_call(call: Message) -> Message:
        result = run_tool_call(call, toolbox)
        say(f"    call    {call['function']['name']}({call['function']['arguments']})")
        say(f"    result  {start_of(result['content'])}")
        return result

    history.append(user(text))
    answer = run_turn(history, ask, run_call, max_turns)
    say(fill(start_of(answer, 400), 90, initial_indent="    answer  ", subsequent_indent=" " * 12))
    return trace


def start_of(text: str, width: int = 58) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[:width]}... ({len(text):,} characters)"


# %% [markdown]
# Now a task that takes a few steps. The harbour of the playground keeps a logbook, and somewhere in it
# stands where a key hangs.

# %%
SYSTEM = system("You are a coding agent. You work in one folder, with the tools you are given.")

history = [SYSTEM]
trace = talk(
    history,
    "Read `logbook/day-01.md`, `logbook/day-02.md`, `logbook/day-03.md`, `logbook/day-04.md` and "
    "`logbook/day-05.md`, one after another. Where does the spare key of the boathouse hang?",
)

# %% [markdown]
# Six requests, and *your* loop made them. Look at the number of messages in each: every request sends all
# that the one before it sent, and two messages more.
#
# Here is the last request as a strip. The first block is what describes the tools; it goes out every
# time, too. Each mark shows how far an earlier request reached.

# %%
strip(
    trace.requests[-1].messages,
    tools=tools.schemas,
    title="The last request, and how far each request before it reached",
    marks={len(record.messages): f"request {record.index}" for record in trace.requests[:-1]},
)

# %% [markdown]
# The same as a chart: the tokens that each request sent.

# %%
growth(trace)

# %% [markdown]
# That is a straight line, or nearly: each step adds one file. A straight line does not look dangerous.
#
# But you do not pay for the last request. You pay for all of them. So add them up, and hold against it
# what was really *said*: each message counted once, when it was new.

# %%
said_against_sent(trace)

# %% [markdown]
# What was said grows in a straight line. What was sent curves upwards, and it does not stop curving.
#
# A little arithmetic shows how it curves. Let the first request send $f$ tokens, and let each step add
# about $s$ more. Then request number $k$ sends $f + (k-1)\,s$, and $n$ requests together send
#
# $$ n f \;+\; s\,\bigl(0 + 1 + 2 + \dots + (n-1)\bigr) \;=\; n f \;+\; s\,\frac{n(n-1)}{2} $$
#
# With the numbers just measured:

# %%
sent = [record.tokens for record in trace.requests]
steps = [after - before for before, after in pairwise(sent)]
n, f, s = len(sent), sent[0], sum(steps) / len(steps)

print("each request sent:", sent)
print("each step added:  ", steps, f" on average {s:.1f}")
print(f"measured sum:      {sum(sent):,}")
print(f"by the formula:   ≈ {n} · {f:,} + {s:.1f} · {n * (n - 1) // 2}")
square = s * n * (n - 1) / 2
print(f"                  = {n * f:,} + {square:,.0f} = {n * f + square:,.0f}\n")

for requests in (n, 2 * n, 200):
    square = s * requests * (requests - 1) / 2
    share = square / (requests * f + square)
    print(f"{requests:>3} requests: the second part is ≈ {share:.0%} of the sum")

# %% [markdown]
# The first part grows with $n$: it is the fixed cost of each request. The second grows with $n(n-1)/2$,
# and that is the **square**: twice as many requests, and this part is about four times as large. The
# longer the run, the more of the bill it is, until it is nearly all of it.

# %% [markdown]
# ## 7. Break it on purpose
#
# Three things go wrong in every agent sooner or later. You have built against all three; now see them
# happen.
#
# ### A tool that raises
#
# This tool always fails. First let its exception out, as an agent without your `run_tool_call` would.
# (You can make the understudy call any tool: write `use TOOL with {...}`.)


# %%
def depth(place: str) -> float:
    """The depth of the water at a place in the harbour, in metres."""
    raise ConnectionError(f"the gauge at {place} does not answer")


gauges = Toolbox([depth])

broken = [SYSTEM, user('use depth with {"place": "the quay"}')]
try:
    run_turn(
        broken,
        lambda messages: send(messages, gauges),
        lambda call: tool_result(call["id"], run_trustfully(call, gauges)),
    )
except ConnectionError as error:
    print("the turn ended with", repr(error))

# %% [markdown]
# What is left of the conversation? Say something, and send it.

# %%
broken.append(user("Are you still there?"))
print([message["role"] for message in broken])
try:
    send(broken, gauges)
except BadRequestError as error:
    print(error.status_code, error.body["message"])

# %% [markdown]
# One failing tool, and the conversation is dead: the history holds a call that nobody has answered, and
# no request will be taken any more.
#
# Now with your `run_tool_call` at the border.

# %%
history = [SYSTEM]
talk(history, 'use depth with {"place": "the quay"}', toolbox=gauges)
print("\nwhat is wrong with the history:", problems(history) or "nothing")

# %% [markdown]
# The model was told, and it tells you. A better model than the understudy might try another gauge.
#
# ### A model that never stops
#
# Nothing forces a model to come to an end. It can call the same tool for ever, each time with the whole
# history. Here `max_turns` is all that stands between you and an endless bill.

# %%
history = [SYSTEM]
trace = talk(history, "Read `hello.txt` again and again.", max_turns=4)
print("\nwhat is wrong with the history:", problems(history) or "nothing")

# %% [markdown]
# The turn ended with a clear word, every call has its result, and the conversation can go on:

# %%
trace = talk(history, "Stop that. How many words does `hello.txt` have?")

# %% [markdown]
# ### Arguments that are not JSON
#
# A model writes its arguments token by token, and nothing makes sure that the result is JSON. Here they
# are a Python dict, in single quotes. It looks harmless, and `eval` would even read it. But `eval` would
# also *run* it, and arguments come from outside: from a model, or from a file that the model has read.

# %%
history = [SYSTEM]
trace = talk(history, "use read_file with `{'path': 'hello.txt'}`")

# %% [markdown]
# The model gets an error that says what is wrong and how it should look. But there is a second trap. The
# bad arguments now stand in the history, and some services reject a history with such a call in it. Then
# the mistake of one moment would block every request after it.

# %%
print("in the history:", history[2]["tool_calls"][0]["function"]["arguments"])
print("its problem:   ", problems(history)[0])
try:
    send(history, tools)
except BadRequestError as error:
    print("sent as it is: ", error.status_code, error.body["message"])
print("normalised:    ", normalise(history)[2]["tool_calls"][0]["function"]["arguments"])

# %% [markdown]
# That is what `normalise` in `talk` is for. It wraps the bad arguments in a JSON object, so that the
# model can still see what it wrote and the server has nothing to complain about. The history itself stays
# as it was.

# %% [markdown]
# ## 8. Turn the knobs
#
# ### How many files?
#
# The square law says: twice the files, about four times the repeated part. Measure it, with 2, 4 and 8
# days of the logbook. The last line reads the same eight files, but all in *one* reply: a model may make
# several calls at once.


# %%
def read_days(days: int, how: str) -> Trace:
    """Let the agent read so many days of the logbook, and return what was sent."""
    files = ", ".join(f"`logbook/day-{day:02}.md`" for day in range(1, days + 1))
    question = "Where does the spare key of the boathouse hang?"
    return talk([SYSTEM], f"Read {files}{how}. {question}", show=False)


def report(name: str, trace: Trace) -> None:
    n, fixed = len(trace), trace.requests[0].tokens
    repeated = trace.sent - n * fixed
    print(f"{name:<24} {n:>8} {trace.sent:>9,} {n * fixed:>9,} {repeated:>9,}")


print(f"{'':<24} {'requests':>8} {'sent':>9} {'n·f':>9} {'the rest':>9}")
for days in (2, 4, 8):
    report(f"{days} files, one by one", read_days(days, ", one after another"))
report("8 files in one reply", read_days(8, ""))

# %% [markdown]
# *The rest* is the part with the square, $s\,n(n-1)/2$. From 2 to 4 files and from 4 to 8 it grows more
# than threefold, and the longer the run, the closer to four.
#
# The last line is the cheapest trick in this lab. The same files, the same answer, but two requests in
# place of nine: what is not asked for in between is not sent again. The loop you wrote could do this from
# the start, because it runs *every* call of a reply.
#
# Now change something: other files, other numbers, a longer system message (which is paid for in every
# request).
#
# ### How many requests?
#
# And `max_turns`? It protects your purse, but a task that needs more requests is stopped half-way. Run
# one with a limit of 6, then with a limit of 2 and a word of encouragement.

# %%
task = (
    "Read `logbook/day-01.md`, `logbook/day-02.md` and `logbook/day-03.md`, one after another. "
    "Where does the spare key of the boathouse hang?"
)
for max_turns, inputs in ((6, [task]), (2, [task, "Go on."])):
    history = [SYSTEM]
    for text in inputs:
        trace = talk(history, text, max_turns=max_turns, show=False)
        print(f"max_turns={max_turns}: {len(trace)} requests, {trace.sent:,} tokens sent")
        print(f"    {start_of(history[-1]['content'])}")

# %% [markdown]
# The stop has cost a turn and your attention, but hardly any tokens: the history is whole, so the agent
# goes on where it stopped and reads nothing twice. A limit is cheap when it leaves a sound history
# behind.

# %% [markdown]
# ## 9. Say it
#
# Answer each question aloud before you unfold an option. Nothing is graded. (The next cell's code is
# folded, since it holds the answers. Run it like any other.)

# %% tags=["hide-input"]
quiz(
    question(
        "Who remembers what was said at the start of a conversation?",
        wrong(
            "The model",
            "It keeps nothing between two requests. You saw it forget a boat's name at once.",
        ),
        wrong(
            "The server, by the id of the conversation",
            "This protocol has no such id. Each request stands alone: what it does not hold is not known.",
        ),
        right(
            "The list of messages that your program keeps and sends",
            "The history is all the memory there is. Change the list, and you change what is remembered.",
        ),
    ),
    question(
        "Why does the bill grow with the square of the requests?",
        wrong(
            "Because the model's answers get longer and longer",
            "They did not. Each step added about as much as the one before it.",
        ),
        right(
            "Because each request sends again all that came before it",
            "Request k repeats k-1 steps, and 1 + 2 + ... + (n-1) is n(n-1)/2: half of a square.",
        ),
        wrong(
            "Because each tool result is sent twice",
            "A result stands in the history once. But it is sent again with every request after it.",
        ),
    ),
    question(
        "A tool raises an exception. Why is that made into a tool result?",
        wrong(
            "So that the user is not troubled with it",
            "Hiding it is not the aim. The model may well tell the user, and should.",
        ),
        right(
            "So that the call has an answer, and the model can try another way",
            "Without a result the server refuses the history. With one, the model knows what went wrong.",
        ),
        wrong(
            "Because exceptions are slow in Python",
            "Speed has nothing to do with it. (Ctrl-C still gets out: it is meant for the program.)",
        ),
    ),
    question(
        "The turn reaches max_turns while the model is still calling tools. What must the history look like?",
        wrong(
            "It ends with the last call, so that the next turn can run it",
            "A call without a result is refused by the server. The conversation could never go on.",
        ),
        wrong(
            "The whole turn is removed from it",
            "Then the model would not know which files it has written, and would do it all again.",
        ),
        right(
            "Every call has its result, and an assistant message says why there is no answer",
            "So the history can be sent, and both the user and the model know where they stand.",
        ),
    ),
    question(
        "Eight files are read one by one, or all in one reply. What do you save with the second?",
        right(
            "The requests in between, and all that each of them would have sent again",
            "You measured it. What is said is nearly the same, what is sent is a fraction.",
        ),
        wrong(
            "The tokens of the eight files",
            "The files are read and sent in both cases, once at least. It is the repetition that is saved.",
        ),
        wrong(
            "Nothing, the files are just as long",
            "Look at the table again: the same files, and far fewer tokens sent.",
        ),
    ),
)

# %% [markdown]
# ## 10. The words
#
# The labs use one word for one thing. These are the first.
#
# | word | what it means |
# |---|---|
# | **message** | a dict with a role (`system`, `user`, `assistant`, `tool`) and a content |
# | **history** | the list of messages: all that the model knows of the conversation |
# | **request** | one call of the model: the history goes out, one message comes back |
# | **turn** | from one input of the user to the final answer; it takes one request or many |
# | **tool** | a function that the model is told of and may ask for |
# | **tool call** | the model's wish to have a tool run: an id, a name, and arguments as JSON text |
# | **tool result** | the message with what came of a call, tied to it by `tool_call_id` |
# | **exchange** | an assistant message with calls, together with all the results for them |
# | **token** | the piece of text that a model reads and that is paid for |
# | **context window** | how many tokens a model can take in one request |
# | **trace** | what every request of a run has sent |
#
# ## Recap
#
# - A model has no memory and no hands. The history is its memory, and your loop is its hands.
# - A tool call is a wish. Every call gets a result, and an error is a result too.
# - The loop: ask, append, run what was asked, append, ask again, until there is an answer or the limit.
# - All of the history is sent with every request, so what is *sent* grows with the square of what is
#   *said*.
#
# Each later lab works on that last line. Lab 2 first makes the agent pleasant to watch: it streams. From
# lab 3 on you make the history shorter without losing the task, which is called **compaction**.

# %% [markdown]
# ## 11. Your own task
#
# `labkit.loop.Agent` is the loop of exercise 1.3 with a client, a history and a trace around it. Give it
# a tool and a task of your own. A tool is any function with types and a docstring; the model is shown
# both.
#
# Change the function, the task, or both, and run the cell. The understudy calls a tool of yours when you
# tell it to (`use TOOL with {...}`), or when your words hold all the words of the tool's name. A real
# model decides for itself, by the docstring.


# %%
@tool
def metres_to_feet(metres: float) -> float:
    """Convert a length from metres to feet."""
    return round(metres * 3.28084, 1)


agent = Agent(
    client,
    model,
    tools=[*tools, metres_to_feet],
    system="You are the clerk of a small harbour.",
    on_event=Narrator(),
)
agent.run("Convert 3.4 metres to feet, please.")
agent.trace

# %% [markdown]
# (*cached* and *compaction* in this table belong to later labs.) The agent's history is an ordinary list.
# Look at it, cut it, send it again.

# %%
strip(agent.messages, title="My own task")

# %% [markdown]
# **With a real model.** Put `LABKIT_MODEL` and a key into a file `.env` in your labs' folder, and every
# cell above talks to that model over the same protocol. Then the words differ from run to run, and it
# costs money. A key alone never switches away from the understudy; only `LABKIT_MODEL` does.
#
# **Next:** [lab 2, streaming](02_streaming.ipynb).
