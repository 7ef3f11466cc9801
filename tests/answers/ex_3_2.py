"""Answers to exercise 3.2: right ones of different build, and wrong ones with the words meant for them."""

import json

from labkit.compaction.summary import block, name_and_arguments, quoted, readable, shortened
from labkit.messages import calls_of, text_of


def without_helpers(messages, max_result_chars=2000):
    lines, names = [], {}

    def cut(text):
        if len(text) <= max_result_chars:
            return text
        half = max_result_chars // 2
        return text[:half] + "\n... cut ...\n" + text[-half:]

    def add(heading, text):
        lines.append(heading + ":")
        lines.extend("> " + line for line in text.splitlines())

    for message in messages:
        text = text_of(message.get("content"))
        if message["role"] == "tool":
            add("what " + names.get(message["tool_call_id"], "some tool") + " returned", cut(text))
            continue
        if text:
            add(message["role"], text)
        for call in message.get("tool_calls") or []:
            names[call["id"]] = call["function"]["name"]
            add("call of " + call["function"]["name"], cut(call["function"]["arguments"]))
    return "\n".join(lines)


def one_block_for_each_message(messages, max_result_chars=2000):
    names = {call["id"]: call["function"]["name"] for m in messages for call in calls_of(m)}
    return "\n\n".join(as_block(message, names, max_result_chars) for message in messages)


def as_block(message, names, most):
    if message["role"] == "tool":
        name = names.get(message["tool_call_id"], "?")
        return f"## tool {name}\n" + quoted(shortened(readable(message), most))
    parts = [f"## {message['role']}", quoted(readable(message))] if readable(message) else []
    for call in calls_of(message):
        name, arguments = name_and_arguments(call)
        parts += [f"## {message['role']} calls {name}", quoted(shortened(arguments, most))]
    return "\n".join(parts)


def blocks_of(messages, most, *, text_of_message=readable, make=block, cut=shortened, calls=True, names=None):
    """The right answer with one piece of it exchanged."""
    names = {} if names is None else names
    blocks = []
    for message in messages:
        text = text_of_message(message)
        if message["role"] == "tool":
            name = names.get(message["tool_call_id"], "an unknown tool")
            blocks.append(make(f"result of {name}", cut(text, most)))
        elif text or not calls_of(message):
            blocks.append(make(message["role"], text))
        for call in calls_of(message) if calls else []:
            name, arguments = name_and_arguments(call)
            names[call["id"]] = name
            blocks.append(make(f"assistant calls {name}", cut(arguments, most)))
    return "\n\n".join(blocks)


def prints_none(messages, max_result_chars=2000):
    return blocks_of(messages, max_result_chars, text_of_message=lambda message: str(message["content"]))


def drops_calls(messages, max_result_chars=2000):
    return blocks_of(messages, max_result_chars, calls=False)


def keeps_only_the_head(messages, max_result_chars=2000):
    return blocks_of(messages, max_result_chars, cut=lambda text, most: text[:most])


def keeps_only_the_tail(messages, max_result_chars=2000):
    return blocks_of(messages, max_result_chars, cut=lambda text, most: text[-most:])


def glues_the_ends(messages, max_result_chars=2000):
    def cut(text, most):
        return text if len(text) <= most else text[: most // 2] + text[-most // 2 :]

    return blocks_of(messages, max_result_chars, cut=cut)


def cuts_nothing(messages, max_result_chars=2000):
    return blocks_of(messages, max_result_chars, cut=lambda text, most: text)


def always_two_thousand(messages, max_result_chars=2000):
    return blocks_of(messages, 2000)


def cuts_one_too_early(messages, max_result_chars=2000):
    return blocks_of(messages, max_result_chars, cut=lambda text, most: shortened(text, most - 1))


def does_not_quote(messages, max_result_chars=2000):
    return blocks_of(messages, max_result_chars, make=lambda heading, text: f"{heading}:\n{text}")


def fences_only(messages, max_result_chars=2000):
    return "<history>\n" + does_not_quote(messages, max_result_chars) + "\n</history>"


def quotes_the_first_line(messages, max_result_chars=2000):
    return blocks_of(messages, max_result_chars, make=lambda heading, text: f"{heading}:\n> {text}")


def does_not_name_the_tool(messages, max_result_chars=2000):
    return blocks_of(messages, max_result_chars, make=lambda h, text: block(h.split(" of ")[0], text))


def needs_the_call(messages, max_result_chars=2000):
    names = {call["id"]: call["function"]["name"] for m in messages for call in calls_of(m)}
    return "\n\n".join(
        block(names[m["tool_call_id"]], readable(m)) if m["role"] == "tool" else as_block(m, names, 2000)
        for m in messages
    )


def cuts_the_user_short(messages, max_result_chars=2000):
    def text_of_message(message):
        return shortened(readable(message), max_result_chars)

    return blocks_of(messages, max_result_chars, text_of_message=text_of_message)


def leaves_arguments_long(messages, max_result_chars=2000):
    def cut(text, most):
        return text if text.startswith("{") else shortened(text, most)

    return blocks_of(messages, max_result_chars, cut=cut)


def prints_parts_as_they_are(messages, max_result_chars=2000):
    def text_of_message(message):
        return readable(message) if isinstance(message["content"], str | None) else str(message["content"])

    return blocks_of(messages, max_result_chars, text_of_message=text_of_message)


def only_contents(messages, max_result_chars=2000):
    return "\n\n".join(quoted(readable(message)) for message in messages)


def as_json(messages, max_result_chars=2000):
    return "\n".join(json.dumps({"role": m["role"], "text": readable(m)}) for m in messages)


def as_a_list(messages, max_result_chars=2000):
    return [block(message["role"], readable(message)) for message in messages]


RIGHT = [without_helpers, one_block_for_each_message]
WRONG = [
    (prints_none, "no-none", "without the word None"),
    (drops_calls, "calls", "stand in the calls and nowhere else"),
    (keeps_only_the_head, "long-results", "only the head of the result is there"),
    (keeps_only_the_tail, "long-results", "the head of the result"),
    (glues_the_ends, "long-results", "head and tail touch"),
    (cuts_nothing, "long-results", "a result of about 2,000 characters"),
    (always_two_thousand, "long-results", "a result of about 200 characters"),
    (cuts_one_too_early, "whole", "something is cut"),
    (does_not_quote, "quoted", "as if we had written it"),
    (fences_only, "quoted", "Quoted, it is only content"),
    (quotes_the_first_line, "quoted", "block(heading, text)"),
    (does_not_name_the_tool, "whose-result", "read_file named just before its result"),
    (needs_the_call, "orphan", "KeyError"),
    (cuts_the_user_short, "long-arguments", "the user's words, whole"),
    (leaves_arguments_long, "long-arguments", "A call that writes a file"),
    (prints_parts_as_they_are, "parts", "readable(message)"),
    (only_contents, "who-said-what", "'user' in its place"),
    (as_json, "calls", "read_file"),
    (as_a_list, "who-said-what", "one text (a str)"),
]
