# %% [markdown]
# # Lab 4: compaction by tokens, at a safe cut
#
# Lab 3 counted messages, and sliced where the count said. Twice that went wrong: one long file slipped under
# the count, and one slice fell between a call and its result, and the server refused the whole history. In
# this lab you mend both.
#
# **What you will see.** A limit in tokens strikes when the history is really large, and a coarse estimate is
# good enough for that, if you know its error. A history has places where it may be cut and places where it
# may not, and a few lines of code find them all. With both, about 7,000 estimated tokens become a few
# hundred, and the agent finishes its task.
#
# **Time:** about 45 minutes. **What changed since lab 3:** the count and the slice go. The summary, its
# request and the rule "validate, then commit" stay as you built them. And compaction now runs before each
# *request*, not after each turn.
#
# There are three functions to write. Until yours pass, labkit's are borrowed.

# %% [markdown]
# ## Set up
#
# This cell imports what the lab uses. You do not have to read it now.

# %%
from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence

from openai import BadRequestError

from labkit.charts import drop_off, estimates, growth, sweep
from labkit.checks import check, hint, question, quiz, right, solution, wrong
from labkit.compaction import Compaction, SafeCutCompactor, Summariser, model_summariser
from labkit.compaction.asking import ask_summary
from labkit.compaction.base import commit, exact_tokens, unchanged
from labkit.compaction.earlier import SAFE_CUT_HEADING
from labkit.compaction.summary import SAFE_CUT_SECTIONS, summary_request, useful
from labkit.connect import connect
from labkit.errors import ContextLimitError
from labkit.live import Narrator
from labkit.loop import Agent, Event
from labkit.messages import (
    Message,
    assistant,
    calls_of,
    exchanges,
    normalise,
    system,
    system_length,
    user,
)
from labkit.playground import fresh_playground, playground_tools
from labkit.rereads import re_reads
from labkit.streaming import Reply, whole_reply
from labkit.strip import strip
from labkit.tokens import TokenCounter, estimate_tokens
from labkit.tools import Toolbox
from labkit.trace import Trace
from labkit.widgets import chat_panel, explorer

client, model = connect()
folder = fresh_playground("lab4")
all_six = playground_tools(folder)
tools = Toolbox(all_six[name] for name in ("list_files", "read_file", "search_text", "write_file"))
counter = TokenCounter()
print("connected to", model, "with the tools", ", ".join(tools.names))

# %% [markdown]
# And three short helpers: one request, the server's verdict on a history, and an agent with this lab's tools.

# %%
SYSTEM = system("You are a coding agent.")


def send(messages: Sequence[Message], toolbox: Toolbox | None = None) -> Reply:
    """One request with exactly these messages. A toolbox is offered to the model."""
    offer = {"tools": toolbox.schemas} if toolbox else {}
    return whole_reply(client.chat.completions.create(model=model, messages=list(messages), **offer))


def verdict(messages: Sequence[Message]) -> str:
    """What the server says to this history: "accepted", or its error in its own words."""
    try:
        send(messages, tools)
    except BadRequestError as error:
        return f"{error.status_code} {error.body['message']}"
    return "accepted"


def new_agent(**settings) -> Agent:
    """An agent with this lab's tools and system message."""
    return Agent(client, model, tools=tools, system=SYSTEM["content"], **settings)


# %% [markdown]
# ## 1. Two troubles
#
# ### The 400 again
#
# Here is a short history. The agent was asked for two files and read both in one reply, so there is one
# exchange with two results. Then the user has asked for something else.

# %%
reader = new_agent()
reader.run("Read `hello.txt` and `notes.md`.")
history = [*reader.messages, user("Which of them holds a date?")]

strip(history, title="One exchange with two results")

# %% [markdown]
# Lab 3 ended with a cut that fell into such an exchange. That was one cut. Let us try them *all*: put a
# summary in place of everything before the cut, keep everything after it, and ask the server.

# %%
SUMMARY = user("[Earlier in this task] The user asked for `hello.txt` and `notes.md`.")

accepted = []
print("cut  the tail begins with  the server says")
for cut in range(1, len(history)):
    answer = verdict([SYSTEM, SUMMARY, *history[cut:]])
    if answer == "accepted":
        accepted.append(cut)
    print(f"{cut:>3}  {history[cut]['role']:<21} {answer}")

# %% [markdown]
# Two of six are refused. In both, the tail begins with a tool result whose call has been cut away.
#
# You cannot ask the server about every cut, and you need not: whether a cut is safe can be seen in the list.
# That is exercise 4.1.
#
# ### Far below the count, far above the limit
#
# Now the other trouble. One question, and one article of about 14,000 characters.

# %%
TASK_ONE = "read `big-article.md` and give its main point in three sentences"

first_task = new_agent()
print(first_task.run(TASK_ONE))
print(f"\n{len(first_task.messages)} messages, ≈{estimate_tokens(first_task.messages):,} tokens")

strip(first_task.messages, title="The history after one task")

# %% [markdown]
# By the count of lab 3, nothing is the matter: a handful of messages, far below 20. But nearly all of the
# history is one block. It will be sent again with every request from here on, long after the answer is
# given.
#
# So measure what is scarce. The context window is measured in tokens, and so is the bill. Our limit in this
# lab is **6,000 tokens**, by the estimate of lab 1: characters / 2. Which leads to the next question.

# %% [markdown]
# ## 2. How good must the measure be?
#
# The estimate divides the characters by a number. Measure it on four kinds of text, by 2 and by 4: the
# article in English, the same story in Chinese, the Python code of the small shop, and a tide table as JSON.

# %%
tides = [{"day": day, "high": f"12:{day * 7 % 60:02}", "metres": 4 + day / 8} for day in range(28)]
texts = {
    "English prose": (folder / "big-article.md").read_text(encoding="utf-8"),
    "Chinese prose": (folder / "big-article.zh.md").read_text(encoding="utf-8"),
    "Python code": "".join(file.read_text(encoding="utf-8") for file in sorted(folder.glob("shop/*.py"))),
    "indented JSON": json.dumps(tides, indent=2),
}
estimates(texts)

# %% [markdown]
# No single number fits. With 2, JSON is nearly right and English and code come out at about twice their size,
# but Chinese still comes out too small. With 4, English and code are nearly right, and Chinese and JSON are
# far too small.
#
# What does that mean for a limit? The estimate says 6,000, so compaction strikes. How many tokens are there
# really?

# %%
LIMIT = 6000

print(f"{'':<15} {'characters':>10} {'≈ tokens':>9} {'real tokens':>12}")
for name, text in texts.items():
    filled = (text * 20)[: 2 * LIMIT]
    print(f"{name:<15} {len(filled):>10,} {LIMIT:>9,} {counter.text(filled):>12,}")

# %% [markdown]
# **Why coarse is enough.** Compaction is a defence that loses detail anyway, and nothing special happens at
# exactly 6,000. With English or code it strikes at about half of that. Early is the safe side: you pay with
# a summary that was not yet needed. And characters are counted in no time, without a table of tokens,
# for any model.
#
# **When it is not enough.** When the limit is close to the real wall, the window of the model. Then the
# other side matters. Here is a history of Chinese text that the estimate calls smaller than 6,000, sent to a
# model with a window of 8,192 tokens.

# %%
small_client, small_model = connect("understudy-8k")
chinese = [SYSTEM, user((texts["Chinese prose"] * 20)[: 2 * LIMIT - 40])]
print(f"≈{estimate_tokens(chinese):,} tokens by estimate, limit {LIMIT:,}: no compaction")
try:
    small_client.chat.completions.create(model=small_model, messages=chinese)
except BadRequestError as error:
    print(error.status_code, error.body["message"])

# %% [markdown]
# So: an estimate, with a limit that leaves room for its error. Or the exact counter, where you have the
# table of tokens. You build with the estimate, and at the end labkit's compactor uses both.

# %% [markdown]
# ## 3. Where may a history be cut?
#
# A **legal cut** is an index `i` at which both `messages[:i]` and `messages[i:]` hold whole exchanges. No
# call is parted from its result, so the server takes what is kept, and the compressor sees what happened.
#
# You do not have to pair calls and results yourself. `exchanges(messages)` has done it:

# %%
for each in exchanges(history):
    print(each)
    print("from message", each.index, "to message", each.last)

# %% [markdown]
# - `index` is the assistant message with the calls, and `last` is where the exchange ends: its last result.
# - `results` says where the result of each call stands, or `None` for a call without one.
# - `open` says that a result is missing and may still arrive: no assistant message has come since. Such an
#   exchange has no end yet.
#
# (Why not a dict from call id to result? Because ids come again. Some models number their calls from 1 in
# every round, and a table for the whole history then pairs the first call with the last result.)
#
# **Exercise 4.1: `legal_cuts`**
#
# - *In:* a history.
# - *Out:* all legal cuts as a list of indices, in rising order.
# - *Example:* for the history above they are `[1, 2, 5, 6, 7]`. 3 and 4 lie inside the exchange. 7 is the
#   end: everything on the left, nothing on the right.
# - *Why it matters:* every compactor from here on chooses among these, and among nothing else. If this
#   function is right, the 400 cannot come back.
#
# The rules, in the order in which the check asks for them:
#
# 1. Every index from `system_length(messages)` to `len(messages)` is a candidate. The system part stays
#    whole.
# 2. An index with `index < i <= last` of some exchange is inside it, whatever message stands there. Results
#    of parallel calls belong together, and a user may speak while the tools run.
# 3. An open exchange reaches to the end of the list.
# 4. A tail never begins with a tool message, even one that has no call at all.
#
# And it should be *linear*: one walk, not a new search at each index. It will run before every request.

# %% exercise="4.1" function="labkit.messages.pairing:legal_cuts" minutes=10 difficulty=3
# hint: Walk through `range(len(messages) + 1)` once. What do you need to know at an index? Only how far the
#   exchanges reach that have begun before it.
# hint: Make a dict first, from where an exchange begins to where it ends:
#   `ends = {each.index: len(messages) if each.open else each.last for each in exchanges(messages)}`.
# hint: Keep a number `busy_until`, -1 at first. An index is legal if it is greater than `busy_until`, not
#   before the end of the system part, and not the index of a tool message. After looking at an index:
#   `busy_until = max(busy_until, ends.get(index, -1))`.
# hint: Mind the last index, `len(messages)`: there is no message to look at. So
#   `index < len(messages) and messages[index].get("role") == "tool"` is what to leave out.

# %%
legal_cuts = check("4.1", legal_cuts)

# %% [markdown]
# Your function against the server. And on the strip, each small line marks a legal cut.

# %%
print("legal cuts:           ", legal_cuts(history))
print("the server accepted:  ", accepted, "(the cut at the end was not tried)")

strip(history, cuts=True, title="Where this history may be cut")

# %% [markdown]
# No request was needed for that. Plain chat can be cut anywhere, and an exchange is one piece.

# %% [markdown]
# ## 4. Choose one
#
# Of all legal cuts, which one? The more is cut off, the more is saved. But the newest messages decide the
# next step, so a few of them must stay. That is one number, `keep_recent`.
#
# Count that many from the end. If the place is legal, good. If it is inside an exchange, step *back* to
# where the exchange begins, so that more is kept than you asked for, never less.
#
# **Exercise 4.2: `choose_cut`**
#
# - *In:* a history, and how many of the newest messages must stay.
# - *Out:* an index, or `None` when there is nothing to cut off.
# - *Example:* in the history above, `keep_recent=2` gives 5. `keep_recent=3` would be 4, which lies inside
#   the exchange, so it gives 2.
# - *Why it matters:* too far forward and the present is gone; inside an exchange and the server refuses.
#
# Nothing to cut off is no error. Every conversation starts that way, and the caller simply goes on. Mind one
# case: a cut directly after the system part is legal, but it keeps everything. That is `None` as well.
#
# You have your `legal_cuts`, and `system_length`.

# %% exercise="4.2" function="labkit.compaction.safe_cut:choose_cut" minutes=6 difficulty=1
# hint: The place you would like is `len(messages) - keep_recent`. Which legal cuts are not behind it?
# hint: Of those, drop the ones that cut nothing off: the cut must be greater than
#   `system_length(messages)`. What is left may be an empty list.
# hint: `possible = [cut for cut in legal_cuts(messages) if start < cut <= wanted]`, and the answer is its
#   last item, or `None` if there is none.

# %%
choose_cut = check("4.2", choose_cut)

# %% [markdown]
# Try it on the same history, with each number from 0 to 6.

# %%
print("keep_recent  cut   kept")
for keep_recent in range(7):
    cut = choose_cut(history, keep_recent)
    kept = "all: nothing to cut off" if cut is None else f"{len(history) - cut} messages"
    print(f"{keep_recent:>11}  {cut!s:<5} {kept}")

# %% [markdown]
# ## 5. Compact
#
# Now put it together. It is the shape you know from lab 3, with three differences.
#
# **It asks before each request.** A single turn may take fifty requests, each with a new tool result. Waiting
# for the end of the turn can be waiting too long. Is that safe, with the turn half done? Lab 3 got into
# trouble there, because a slice does not look where it falls. A legal cut does.
#
# **The summary is one user message**, without an acknowledgement. It begins with
# `[Earlier in this task]`, and the newest messages follow directly. (In lab 3 the agent took such a message
# for a question. Here something newer always comes after it: what the model has to react to is the last
# message, a request or a tool result.)
#
# **Nothing to do gives a copy.** Never the list that came in. Section 7 shows what happens otherwise.
#
# **Exercise 4.3: `compact`**
#
# - *In:* a history, a summariser, the limit in estimated tokens, and `keep_recent`.
# - *Out:* a `Compaction`.
# - *Example:* a history of ≈7,200 tokens, `[system, user, call, result, answer, user]`, becomes
#   `[system, summary, answer, user]`, a few hundred tokens.
# - *Why it matters:* this runs before every request your agent will ever make.
#
# What you have, most of it from lab 3:
#
# | helper | what it does |
# |---|---|
# | `estimate_tokens(messages)` | the estimate, characters / 2 |
# | `choose_cut(messages, keep_recent)` | your own, from above |
# | `unchanged(messages, tokens, reason, failed=False)` | all as it was, in a new list, and why |
# | `ask_summary(old, summarise, SAFE_CUT_SECTIONS)` | a judged summary: `.text`, or `.problem` and `.asked` |
# | `SAFE_CUT_HEADING` | `[Earlier in this task]` |
# | `commit(messages, shorter, estimate_tokens)` | the new history, if it is really smaller, by the estimate |
#
# `SAFE_CUT_SECTIONS` is what this compressor is told: keep facts, decisions and the state of the files, in at
# most 200 words. Its request is its own. It has its own system message, it gets the old messages as quoted
# text, and no tools go with it.

# %% exercise="4.3" function="labkit.compaction.safe_cut:compact" minutes=10 difficulty=2
# hint: Two ways out come first: the estimate is within the limit, or there is no cut. Both return
#   `unchanged(messages, before, reason)`, and nobody has been asked for a summary yet.
# hint: Then three slices, with `start = system_length(messages)`: `messages[:start]`, `messages[start:cut]`
#   and `messages[cut:]`. Only the middle one goes to `ask_summary`.
# hint: The third way out: `if summary.problem:`
#   `return unchanged(messages, before, summary.problem, failed=summary.asked)`.
# hint: The new history is `[*system, user(f"{SAFE_CUT_HEADING} {summary.text}"), *recent]`, and the last line
#   is `return commit(messages, shorter, estimate_tokens)`.

# %%
compact = check("4.3", compact)

# %% [markdown]
# ## 6. Watch it work
#
# ### By hand
#
# The compressor is the same model, asked in a request of its own. Let us also note what its requests cost,
# since they are part of the bill.

# %%
ask_model = model_summariser(client, model)
compressor_tokens: list[int] = []


def summarise(messages: list[Message], max_tokens: int) -> Reply:
    """Ask for a summary, and note how many tokens the request has."""
    compressor_tokens.append(counter.history(messages))
    return ask_model(messages, max_tokens)


# %% [markdown]
# Begin in the middle of task one. The article has just been read, and the request for the answer is about to
# go out.

# %%
during = first_task.messages[:4]
print([message["role"] for message in during])
print(compact(during, summarise).reason)

# %% [markdown]
# Far above the limit, and yet **one task alone does not trigger it**. The article is among the two newest
# messages. All that stands before the cut is the user's short request, and a summary of that turned out no
# shorter than the request itself. So nothing changes, and that is right: the model needs the article *now*.
#
# Then the answer is given, and the second task comes in. The article has grown old.

# %%
TASK_TWO = (
    "also read `hello.txt` and `notes.md`, and write their contents with that summary into `review.txt`"
)

before = [*first_task.messages, user(TASK_TWO)]
result = compact(before, summarise)

drop_off(before, result.messages, estimate=estimate_tokens)

# %% [markdown]
# Those are estimates, the compactor's own measure. Counted exactly, both figures are about half as large, as
# section 2 has shown for English. And what did the summary cost?

# %%
print(f"≈{result.tokens_before:,} tokens became ≈{result.tokens_after:,}")
print(f"counted exactly, {exact_tokens(before):,} became {exact_tokens(result.messages):,}")
print(f"the request for the summary had {compressor_tokens[-1]:,} tokens")

# %% [markdown]
# The compressor was not sent the whole article. A long result goes to it with its head and its tail, as in
# your `render_history`.
#
# Here is the cut on the strip: above the history before, below it what is left.

# %%
strip(result.messages, before=before, cuts=True, title="The article is folded away")

# %%
print(result.messages[1]["content"])

# %% [markdown]
# Read it as if it were all you knew. What was asked; which file was read, and what it is. The text of the
# article is gone. Its three sentences are not: they are the agent's answer, one of the two newest messages,
# kept word for word.
#
# ### In the loop
#
# `SafeCutCompactor` is your `compact` as an object with settings, and a few things more. Give it to the
# agent for the moment before each request, and run both tasks.

# %%
folded: list[Compaction] = []
narrate = Narrator()


def narrate_and_keep(event: Event) -> None:
    """Print what happens, and keep the compactions."""
    narrate(event)
    if event.compaction and event.compaction.changed:
        folded.append(event.compaction)


agent = new_agent(
    before_request=SafeCutCompactor(limit=LIMIT, keep_recent=2, summarise=summarise),
    on_event=narrate_and_keep,
)
for task in (TASK_ONE, TASK_TWO):
    print(f"\nyou: {task}")
    agent.run(task)

# %%
growth(agent.trace, limit=LIMIT, estimate=estimate_tokens)

# %% [markdown]
# The dotted line is the estimate that the compactor goes by. At request 2 it is above the limit, and nothing
# happens: that is task one, with the article among the newest. At request 3 it falls. (The full line is
# exact, and counts the descriptions of the tools as well.)
#
# And the review? It was written after the article had gone:

# %%
print((folder / "review.txt").read_text(encoding="utf-8"))

# %% [markdown]
# The two small files are in it, and at the end the three sentences, although the agent had not seen the
# article since request 2. It did not read it again. What was kept was enough.
#
# ### What the object adds
#
# - **It looks before it asks.** Your `compact` asked for a summary in the middle of task one, in vain.
#   `SafeCutCompactor` first reckons whether anything can be gained.
# - **It counts, too.** The estimate says when to compact, and the exact counter has the last word.
# - **It says when the limit cannot be kept** (`strict`), which section 8 shows.
# - **It keeps the user's own words** (`keep_user_words=True`). This is our addition: the system from which
#   this lab is taken has the summary alone. What you said is what the task *is*, and in a long turn the very
#   request that is being worked on may be among what is folded. No compressor should decide which of your
#   rules survive. So the user's messages stand below the summary, word for word (very long ones shortened),
#   and every later compaction carries them along.

# %%
print(folded[0].messages[1]["content"])
print(f"\n≈{folded[0].tokens_after:,} tokens after it, ≈{result.tokens_after:,} without the user's words")

# %% [markdown]
# ## 7. Break it on purpose
#
# ### A cut by a wrong rule
#
# "Never cut directly after a call" sounds like a rule that keeps calls and results together. For one call it
# does. With two calls in one reply it allows a cut between the two results:

# %%
after_no_call = [cut for cut in range(1, len(history)) if not calls_of(history[cut - 1])]
print("allowed by the rule:", after_no_call)
print("legal:              ", legal_cuts(history)[:-1])

broken = [SYSTEM, SUMMARY, *history[4:]]
print("\ncut at 4:  ", verdict(broken))
print("normalised:", verdict(normalise(broken)))
print("            roles:", ", ".join(message["role"] for message in normalise(broken)))

# %% [markdown]
# The server says what it said in section 1. `normalise`, which labkit's agent applies to every request,
# would have hidden the mistake: it takes the orphaned result out, and the text of `notes.md` with it. No
# error, and one file less. A safe cut loses nothing that was not handed to the compressor.
#
# ### The emptied list
#
# This compactor does nothing, correctly, when the history is small. It returns what it got.


# %%
def compact_carelessly(messages: list[Message]) -> list[Message]:
    if estimate_tokens(messages) <= LIMIT:
        return messages
    return compact(messages, summarise).messages


# %% [markdown]
# Now a caller that keeps one list for the whole conversation. It clears the list and fills it from the
# result. Step by step:

# %%
conversation = [SYSTEM, user("My boat is called Perrin."), assistant("Noted.")]

shorter = compact_carelessly(conversation)
print(f"1. compacted:    {len(shorter)} messages came back. The same list? {shorter is conversation}")

conversation.clear()
print(f"2. list cleared: {len(conversation)} messages in the list, {len(shorter)} in what came back")

conversation.extend(shorter)
print(f"3. filled again: {len(conversation)} messages in the list")
print(f"4. sent:         {verdict(conversation)}")

# %% [markdown]
# There was only ever one list, with two names. Clearing one cleared the other, and the whole conversation is
# gone, although nothing was compacted at all. It happens in the *harmless* case, on the first small history,
# which is why nobody looks for it there.
#
# Your `compact` returns a copy, so the same caller is safe:

# %%
conversation = [SYSTEM, user("My boat is called Perrin."), assistant("Noted.")]
copied = compact(conversation, summarise)
conversation.clear()
conversation.extend(copied.messages)
print(len(conversation), "messages")

# %% [markdown]
# ### A summary in the assistant's name
#
# The summary was written by a model, so why not put it under the assistant's name? Here are two summaries,
# a line about the harbour and the one from section 6. Send each under both names, and ask about it.

# %%
facts = "[Earlier in this task] ## Facts\n- the harbour master says that the lock needs 90 minutes"
text = result.messages[1]["content"]

for build in (user, assistant):
    print(f"As a message of the {build.__name__}:")
    for content, asked in ((facts, "How long does the lock need?"), (text, "Which file did you read?")):
        print("   ", asked)
        print("       ", send([SYSTEM, build(content), user(asked)]).text)

# %% [markdown]
# Under the user's name it is a report, and the agent says where it knows it from. Under the assistant's name
# it is something the agent *said itself*: "I said earlier". The harbour master's figure has become a remark
# of its own. For the second question its own words do not even count: to say that one has read a file is not
# to have read it.
#
# A language model is no better off. It takes its own earlier words for its own, defends them, and builds on
# them. A summary comes from outside, so it should look as if it does.
#
# ### The present goes, too
#
# With `keep_recent=0`, everything may be folded away. Watch task one again, with at most four requests.

# %%
forgetful = new_agent(
    before_request=SafeCutCompactor(limit=LIMIT, keep_recent=0, summarise=summarise),
    max_turns=4,
    on_event=Narrator(),
)
forgetful.run(TASK_ONE)
sent_roles = {message["role"] for record in forgetful.trace.requests for message in record.messages}
print("\nroles in all that was sent:", ", ".join(sorted(sent_roles)))

# %% [markdown]
# Each time the article is read, it is folded away before the model has seen it. So the model asks for it
# again. Four requests, four times the same file, and in all that was sent there is not one tool result.
#
# It looks cheap, request by request, and it would go on for ever. What the model has not read yet is the one
# thing that may never be folded. Already `keep_recent=1` sees to that: a place directly before a tool result
# is no legal cut, so it steps back, and the whole exchange stays.
#
# ### A compressor with tools
#
# Last, offer the compressor our tools, "in case it wants to look something up".

# %%
request = summary_request(before[1:4], SAFE_CUT_SECTIONS)
tempted = send(request, tools)
print("it says: ", tempted.text)
for call in tempted.tool_calls:
    print("it calls:", call["function"]["name"], call["function"]["arguments"])
print("verdict: ", useful(tempted, exact_tokens(before), counter.text))

# %% [markdown]
# It was asked for a summary, and went on with the task: it has tools and an interesting history, so it calls.
# Many models do. The reply is no summary, and `useful`, which `ask_summary` applies to every answer, says so.
# Your `compact` then leaves everything as it was:


# %%
def with_tools(messages: list[Message], max_tokens: int) -> Reply:
    return send(messages, tools)


refused = compact(before, with_tools)
print(f"changed: {refused.changed}, failed: {refused.failed}, {len(refused.messages)} messages")
print("reason: ", refused.reason)

# %% [markdown]
# ## 8. Turn the knobs
#
# The limit is the knob of this lab. Set it to 1,500 and give the agent the first task.

# %%
strict = new_agent(before_request=SafeCutCompactor(limit=1500, summarise=summarise))
try:
    strict.run(TASK_ONE)
except ContextLimitError as error:
    print(textwrap.fill(str(error), 100))

# %% [markdown]
# The article alone is larger than that, and it is among the newest. No compaction can help, so the agent
# stops and names the floor: what is left when all that may go has gone.
#
# The system that this lab is taken from does not know such a stop. There, the limit only says *when* to
# compact. That is `strict=False`, and we use it here, to see what a low limit does. Two more tasks make the
# session a little longer.

# %%
SESSION = (
    TASK_ONE,
    TASK_TWO,
    "Read `logbook/day-01.md` and give its main point in one sentence.",
    "When is the review due, according to `notes.md`?",
)


def run_session(limit: int, on_event=None) -> Agent:
    """The four tasks, one after the other, with this limit."""
    compactor = SafeCutCompactor(limit=limit, summarise=ask_model, strict=False)
    worker = new_agent(before_request=compactor, on_event=on_event)
    for task in SESSION:
        worker.run(task)
    return worker


def tell(trace: Trace) -> None:
    """The compactions and the files that had to be read again, request by request."""
    for record in trace.requests:
        if record.compaction:
            print(f"    before request {record.index}: {record.compaction.reason}")
    for again in re_reads(trace):
        print(f"    after request {again.request}: {again.path} is read AGAIN")


for limit in (6000, 1500):
    worker = run_session(limit)
    print(f"limit {limit:,}: {len(worker.trace)} requests, {worker.trace.sent:,} tokens sent")
    tell(worker.trace)
    print("    the last answer:", worker.messages[-1]["content"])

# %% [markdown]
# Both agents give the right answer in the end. With 1,500, compaction struck earlier and more often: three
# times, and the second time it folded away two small files that the other agent could keep. When the last
# task asked for the notes, they had to be **read again**. Most requests were smaller, and there was one more
# of them.
#
# So which limit is best? Try more values. Each run is the same four tasks.

# %%
sweep({limit: run_session(limit).trace for limit in (500, 1500, 3000, 6000, 9000, 12000)})

# %% [markdown]
# The curve has the shape of a valley.
#
# **On the right**, the limit is so high that the article stays for long, or for ever, and is sent again with
# each request. (A re-read can happen here as well, when the one compaction comes just before the text is
# needed: see 9,000.)
#
# **On the left**, it is so low that what the agent needs does not fit beside what it has just read. It reads
# one file and loses the other, reads that and loses the first. That is thrashing, as in a computer with too
# little memory.
#
# **In between** lies a wide floor where the exact number hardly matters. That is the best reason why a coarse
# estimate will do.
#
# (The chart shows what the agent sent. Each compaction also costs a request to the compressor; the table
# says how many there were.)
#
# And the answers? This is what the user heard from the agent with a limit of 500:

# %%
thrashing = new_agent(before_request=SafeCutCompactor(limit=500, summarise=ask_model, strict=False))
for task in SESSION:
    print("you:  ", task)
    print("agent:", thrashing.run(task))

# %% [markdown]
# No review, after twelve requests in circles. And the last answer belongs to another question: in that
# history there was too little left to tell what was being asked.
#
# To turn the knobs on a longer session, use the explorer. It replays a recorded session of 100 messages at
# each move: with the mouse, or with Tab and the arrow keys. A replay asks no model, so it cannot go in
# circles as the agent did, but it counts everything.
#
# Move **limit** from right to left, down to about 2,000. Fewer and fewer tokens are sent. And how many of
# them are *fresh*? More and more: each compaction changes the beginning of the history, and what was cached
# of it is worth nothing.
# Below the size of the largest message, some requests stay over the limit whatever you do.

# %%
explorer("medium", "safe-cut", limit=6000)

# %% [markdown]
# Now change something. Give the compactor in `run_session` a `keep_recent` of 4 or 6: more of the present
# stays, and less is saved. Or put your own function in its place:
# `before_request=lambda messages: compact(messages, ask_model, limit)`.

# %% [markdown]
# ## 9. Say it
#
# Answer each question aloud before you unfold an option. Nothing is graded. (The next cell's code is
# folded, since it holds the answers. Run it like any other.)

# %% tags=["hide-input"]
quiz(
    question(
        "Why may a cut not fall directly before a tool result?",
        wrong(
            "Because the result would be lost",
            "It would be kept: it stands right of the cut. What is lost is its call.",
        ),
        right(
            "Because its call would be on the other side, and a result without its call is refused",
            "The server answers 400, and so it will for every later request. A cut has whole exchanges on "
            "both sides.",
        ),
        wrong(
            "Because tool results are too long to begin with",
            "Length does not matter. A result of three characters is refused just the same.",
        ),
    ),
    question(
        "The estimate says more than twice the real tokens for English. Why is that good enough?",
        right(
            "It strikes early, which costs a summary too soon, and the limit has no sharp edge",
            "You saw a wide floor between too low and too high. It is not good enough where it is too small "
            "and the window is near, as with the Chinese text.",
        ),
        wrong(
            "Because English is the most frequent language in code",
            "What is frequent does not make the estimate right. Chinese was off on the other side.",
        ),
        wrong(
            "Because the provider corrects it in the usage",
            "The usage comes after the request. The decision is made before it.",
        ),
    ),
    question(
        "Why does the compressor get messages of its own, and no tools?",
        wrong(
            "Because the agent's system message is secret",
            "It is not secret. It gives the wrong job: 'you are a coding agent'.",
        ),
        wrong(
            "Because tools make a request longer",
            "They do, by a little. That is not what went wrong when it had them.",
        ),
        right(
            "Because with the agent's role, its history and its tools, it goes on with the agent's task",
            "Given as text, the history is something to write about. Given as a conversation, it is "
            "something to continue.",
        ),
    ),
    question(
        "Why is the summary a user message, and not one of the assistant's?",
        right(
            "It tells the model something from outside, and a model trusts its own words too much",
            "In its own name the report became 'I said earlier'. As a user message it stays a report.",
        ),
        wrong(
            "Because user messages are cheaper",
            "A token costs the same in every message that is sent.",
        ),
        wrong(
            "Because a history must have as many user messages as assistant messages",
            "No service asks for that. Some want the two to take turns, which is another matter.",
        ),
    ),
    question(
        "There is nothing to compact. Why must a copy come back?",
        wrong(
            "So that the kept messages are protected from changes",
            "The messages in the copy are the same dicts. Only the list is new.",
        ),
        right(
            "So that a caller who clears its list and fills it from the result does not empty both",
            "With one list under two names, clearing one is clearing the other. You watched it happen.",
        ),
        wrong(
            "Because Python passes lists by value",
            "It passes a reference to the very same list. That is the cause of the trouble.",
        ),
    ),
)

# %% [markdown]
# ## 10. The words
#
# | word | what it means |
# |---|---|
# | **limit** | the number of tokens above which a history is compacted |
# | **estimate** | tokens reckoned from characters; marked with ≈ |
# | **legal cut** | a place in the history with whole exchanges on both sides |
# | **tail** | what stands behind the cut, and stays word for word |
# | **open exchange** | calls whose results may still arrive |
# | **floor** | what no compaction removes: system part, summary, tail |
# | **re-read** | a file that is read again because compaction has taken its text away |
#
# ## Recap
#
# - Measure what is scarce: tokens. A coarse estimate will do where the limit leaves room for its error.
# - A history may be cut where no exchange lies across the cut, and nowhere else. Compactors choose among
#   those places: from the end `keep_recent` back, then back to a legal one.
# - Ask before each request. Above the limit, summarise what stands before the cut, in one user message.
# - The compressor has its own messages and no tools. Its answer is judged before anything changes.
# - Nothing to do, or no usable summary: the history as it was, in a new list.
# - A limit too low makes the agent read in circles; one too high saves nothing.
#
# What bothers you may be this: to get rid of one long tool result, everything old was handed to a compressor,
# and came back as a few lines. Lab 5 takes the tool results first, by themselves, without asking a model.

# %% [markdown]
# ## 11. Your own task
#
# An agent with `SafeCutCompactor`, three tasks and a limit. Change all of them. The chart shows the exact
# tokens of each request and the estimate that decides.

# %%
MY_LIMIT = 3000

mine = new_agent(
    before_request=SafeCutCompactor(limit=MY_LIMIT, keep_recent=2, summarise=summarise, strict=False),
    on_event=Narrator(),
)
for task in (
    "Search for `crane` in `logbook`.",
    "Read `logbook/day-02.md`, `logbook/day-03.md` and `logbook/day-04.md`, one after another.",
    "Read `big-article.md` and give its main point in one sentence.",
    "What did I ask you first?",
):
    print(f"\nyou: {task}")
    mine.run(task)

# %%
growth(mine.trace, limit=MY_LIMIT, estimate=estimate_tokens)

# %% [markdown]
# The history is an ordinary list. This is what is left of it:

# %%
strip(mine.messages, cuts=True, title="My own task")

# %% [markdown]
# And here you can go on talking to it. **Send** (or Enter) begins a turn and **Stop** ends it. The bar runs
# towards the limit, and a compaction shows on the strip.

# %%
chat_panel(mine)

# %% [markdown]
# **Next:** [lab 5, two tiers](05_two_tiers.ipynb).
