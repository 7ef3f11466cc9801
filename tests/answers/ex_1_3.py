"""Answers to 1.3, run_turn: right ones of different build, and wrong ones with what each is told."""

from __future__ import annotations

from labkit.loop import CUT_SHORT
from labkit.messages import assistant, tool_result


def result_of(call, reply, run_call):
    return run_call(call) if reply.calls_may_run else tool_result(call["id"], CUT_SHORT)


def as_a_while_loop(messages, ask, run_call, max_turns=12):
    requests = 0
    while requests < max_turns:
        requests += 1
        reply = ask(messages)
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.text
        messages.extend([result_of(call, reply, run_call) for call in reply.tool_calls])
    sentence = f"I stopped after {requests} requests."
    messages.append({"role": "assistant", "content": sentence})
    return sentence


def by_recursion(messages, ask, run_call, max_turns=12):
    if max_turns == 0:
        messages.append(assistant("No answer within the limit."))
        return "No answer within the limit."
    reply = ask(messages)
    messages += [reply.message]
    if not reply.message.get("tool_calls"):
        return reply.text
    for call in reply.message["tool_calls"]:
        messages += [result_of(call, reply, run_call)]
    return by_recursion(messages, ask, run_call, max_turns - 1)


def leaves_the_last_calls_undone(messages, ask, run_call, max_turns=12):
    """Also right: at the limit the calls are not run, but each has a result that says so."""
    for number in range(1, max_turns + 1):
        reply = ask(messages)
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.text
        for call in reply.tool_calls:
            last = number == max_turns
            messages.append(tool_result(call["id"], "not run") if last else result_of(call, reply, run_call))
    messages.append(assistant("Out of requests."))
    return messages[-1]["content"]


def results_first(messages, ask, run_call, max_turns=12):
    for _ in range(max_turns):
        reply = ask(messages)
        messages += [run_call(call) for call in reply.tool_calls]
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.text
    return "stopped"


def first_call_only(messages, ask, run_call, max_turns=12):
    for _ in range(max_turns):
        reply = ask(messages)
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.text
        messages.append(run_call(reply.tool_calls[0]))
    messages.append(assistant("stopped"))
    return "stopped"


def last_call_first(messages, ask, run_call, max_turns=12):
    for _ in range(max_turns):
        reply = ask(messages)
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.text
        messages += [run_call(call) for call in reversed(reply.tool_calls)]
    messages.append(assistant("stopped"))
    return "stopped"


def one_too_late(messages, ask, run_call, max_turns=12):
    requests = 0
    while requests <= max_turns:
        requests += 1
        reply = ask(messages)
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.text
        messages += [run_call(call) for call in reply.tool_calls]
    messages.append(assistant("stopped"))
    return "stopped"


def one_too_early(messages, ask, run_call, max_turns=12):
    return as_a_while_loop(messages, ask, run_call, max(1, max_turns - 1))


def always_twelve(messages, ask, run_call, max_turns=12):
    return as_a_while_loop(messages, ask, run_call)


def drops_the_text(messages, ask, run_call, max_turns=12):
    for _ in range(max_turns):
        reply = ask(messages)
        if not reply.tool_calls:
            messages.append(reply.message)
            return reply.text
        messages.append(assistant(None, reply.tool_calls))
        messages += [run_call(call) for call in reply.tool_calls]
    messages.append(assistant("stopped"))
    return "stopped"


def takes_any_text_for_the_answer(messages, ask, run_call, max_turns=12):
    for _ in range(max_turns):
        reply = ask(messages)
        messages.append(reply.message)
        if reply.text:
            return reply.text
        messages += [run_call(call) for call in reply.tool_calls]
    messages.append(assistant("stopped"))
    return "stopped"


def leaves_calls_unanswered(messages, ask, run_call, max_turns=12):
    for number in range(1, max_turns + 1):
        reply = ask(messages)
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.text
        if number == max_turns:
            break
        messages += [run_call(call) for call in reply.tool_calls]
    messages.append(assistant("stopped"))
    return "stopped"


def says_nothing_at_the_limit(messages, ask, run_call, max_turns=12):
    for _ in range(max_turns):
        reply = ask(messages)
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.text
        messages += [run_call(call) for call in reply.tool_calls]
    return "stopped"


def returns_nothing_at_the_limit(messages, ask, run_call, max_turns=12):
    for _ in range(max_turns):
        reply = ask(messages)
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.text
        messages += [run_call(call) for call in reply.tool_calls]
    messages.append(assistant("stopped"))


def runs_half_a_call(messages, ask, run_call, max_turns=12):
    for _ in range(max_turns):
        reply = ask(messages)
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.text
        messages += [run_call(call) for call in reply.tool_calls]
    messages.append(assistant("stopped"))
    return "stopped"


def makes_a_new_list(messages, ask, run_call, max_turns=12):
    messages = list(messages)
    return as_a_while_loop(messages, ask, run_call, max_turns)


def adds_to_a_new_list(messages, ask, run_call, max_turns=12):
    for _ in range(max_turns):
        reply = ask(messages)
        messages = [*messages, reply.message]
        if not reply.tool_calls:
            return reply.text
        messages = messages + [run_call(call) for call in reply.tool_calls]
    return "stopped"


def forgets_the_answer(messages, ask, run_call, max_turns=12):
    for _ in range(max_turns):
        reply = ask(messages)
        if not reply.tool_calls:
            return reply.text
        messages.append(reply.message)
        messages += [run_call(call) for call in reply.tool_calls]
    return "stopped"


def never_asks_again(messages, ask, run_call, max_turns=12):
    reply = ask(messages)
    messages.append(reply.message)
    for call in reply.tool_calls:
        messages.append(run_call(call))
    return reply.text


def never_stops(messages, ask, run_call, max_turns=12):
    while True:
        reply = ask(messages)
        messages.append(reply.message)
        for call in reply.tool_calls:
            messages.append(run_call(call))


def returns_the_message(messages, ask, run_call, max_turns=12):
    as_a_while_loop(messages, ask, run_call, max_turns)
    return messages[-1]


RIGHT = [as_a_while_loop, by_recursion, leaves_the_last_calls_undone]
WRONG = [
    (results_first, "call-and-result", "Append reply.message first"),
    (first_call_only, "every-call", "for call in reply.tool_calls"),
    (last_call_first, "every-call", "run: b, a"),
    (one_too_late, "limit", "4 requests"),
    (one_too_early, "limit", "2 requests"),
    (always_twelve, "limit", "12 requests"),
    (drops_the_text, "text-with-call", "Append the reply's message as it came"),
    (takes_any_text_for_the_answer, "text-with-call", "the text that came with the call"),
    (leaves_calls_unanswered, "limit-leaves-results", "has no result before the next message"),
    (says_nothing_at_the_limit, "limit-says-so", "at the end: tool"),
    (returns_nothing_at_the_limit, "limit-says-so", "return"),
    (runs_half_a_call, "cut-short", "the call is not run"),
    (makes_a_new_list, "answer", "not messages = messages + [...]"),
    (adds_to_a_new_list, "answer", "messages.append(reply.message)"),
    (forgets_the_answer, "answer", "1 message: user"),
    (never_asks_again, "call-and-result", "ask(messages)"),
    (never_stops, "endless", "stopped after"),
    (returns_the_message, "answer", "(dict)"),
]
