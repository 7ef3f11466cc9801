"""Answers to exercise 5.3: right ones of different build, and wrong ones with the words meant for them."""

from labkit.compaction.asking import ask_summary
from labkit.compaction.base import Compaction, commit, exact_tokens, quarter_of_characters, unchanged
from labkit.compaction.earlier import FULL_HEADING, summary_pair
from labkit.compaction.snapshot import write_snapshot
from labkit.compaction.summary import FULL_SECTIONS
from labkit.compaction.two_tier import path_for_agent, split_unread
from labkit.messages import assistant, text_of, user


def the_other_branch_first(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    path = write_snapshot(messages, folder)
    head, middle, tail = split_unread(messages)
    found = ask_summary(middle, summarise, instructions)
    if not found.problem:
        told = summary_pair(FULL_HEADING.format(path=path_for_agent(path, root)), found.text, tail)
        return commit(messages, head + told + tail, quarter_of_characters, path)
    tokens = quarter_of_characters(messages)
    return unchanged(messages, tokens, found.problem, snapshot=path, failed=found.asked)


def by_hand(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    path = write_snapshot(list(messages), folder)
    system, old, unread = split_unread(messages)
    summary = ask_summary(old, summarise, instructions)
    name = path_for_agent(path, root)
    shorter = [*system, user(f"[Context has been compressed. Memory: {name}]\n{summary.text}")]
    if not (unread and unread[0]["role"] == "assistant"):
        shorter.append(assistant("I have read it."))
    shorter.extend(unread)
    before, after = quarter_of_characters(messages), quarter_of_characters(shorter)
    reason = summary.problem or ("" if after < before else "no smaller")
    if reason:
        return Compaction(list(messages), False, reason, before, before, path, failed=summary.asked)
    return Compaction(shorter, True, "compacted", before, after, path)


def variant(
    messages,
    summarise,
    folder,
    root,
    instructions,
    *,
    save=write_snapshot,
    name=path_for_agent,
    ask=lambda old, unread, summarise, instructions: ask_summary(old, summarise, instructions),
    give_up=lambda messages, summary, path: unchanged(
        messages, quarter_of_characters(messages), summary.problem, failed=summary.asked, snapshot=path
    ),
    make=lambda system, heading, text, unread: [*system, *summary_pair(heading, text, unread), *unread],
    end=lambda messages, shorter, path: commit(messages, shorter, quarter_of_characters, path),
    late=False,
):
    """The right answer with one piece of it exchanged."""
    path = None if late else save(messages, folder)
    system, old, unread = split_unread(messages)
    summary = ask(old, unread, summarise, instructions)
    path = save(messages, folder) if late else path
    if summary.problem and give_up:
        return give_up(messages, summary, path)
    heading = FULL_HEADING.replace("{path}", name(path, root))
    return end(messages, make(system, heading, summary.text, unread), path)


def summary_first(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    return variant(messages, summarise, folder, root, instructions, late=True)


def without_the_path(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    def make(system, heading, text, unread):
        return [*system, *summary_pair("[Context has been compressed.]", text, unread), *unread]

    return variant(messages, summarise, folder, root, instructions, make=make)


def the_whole_path(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    return variant(messages, summarise, folder, root, instructions, name=lambda path, root: str(path))


def ignores_root(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    return variant(
        messages, summarise, folder, root, instructions, name=lambda path, root: path_for_agent(path)
    )


def loses_the_system_message(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    def make(system, heading, text, unread):
        return [*summary_pair(heading, text, unread), *unread]

    return variant(messages, summarise, folder, root, instructions, make=make)


def commits_an_empty_summary(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    return variant(messages, summarise, folder, root, instructions, give_up=None)


def lets_the_error_out(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    path = write_snapshot(messages, folder)
    system, old, unread = split_unread(messages)
    asked = [str(instructions.sections), *(text_of(message.get("content")) for message in old)]
    reply = summarise([user("\n".join(asked))], instructions.max_tokens)
    heading = FULL_HEADING.replace("{path}", path_for_agent(path, root))
    return commit(
        messages,
        [*system, *summary_pair(heading, reply.text, unread), *unread],
        quarter_of_characters,
        path,
    )


def not_counted_as_failed(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    def calmly(messages, summary, path):
        return unchanged(messages, quarter_of_characters(messages), summary.problem, snapshot=path)

    return variant(messages, summarise, folder, root, instructions, give_up=calmly)


def without_acknowledgement(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    def make(system, heading, text, unread):
        return [*system, user(f"{heading}\n\n{text}"), *unread]

    return variant(messages, summarise, folder, root, instructions, make=make)


def forgets_what_is_unread(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    def make(system, heading, text, unread):
        return [*system, *summary_pair(heading, text, [])]

    return variant(messages, summarise, folder, root, instructions, make=make)


def summarises_what_is_unread(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    def ask(old, unread, summarise, instructions):
        return ask_summary([*old, *unread], summarise, instructions)

    return variant(messages, summarise, folder, root, instructions, ask=ask)


def always_acknowledges(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    def make(system, heading, text, unread):
        return [*system, *summary_pair(heading, text, []), *unread]

    return variant(messages, summarise, folder, root, instructions, make=make)


def saves_the_old_part_only(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    def save(messages, folder):
        return write_snapshot(split_unread(messages)[1], folder)

    return variant(messages, summarise, folder, root, instructions, save=save)


def keeps_the_path_to_itself(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    def end(messages, shorter, path):
        return commit(messages, shorter, quarter_of_characters)

    return variant(messages, summarise, folder, root, instructions, end=end)


def own_instructions(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    return variant(messages, summarise, folder, root, FULL_SECTIONS)


def counts_exactly(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    def end(messages, shorter, path):
        return commit(messages, shorter, exact_tokens, path)

    return variant(messages, summarise, folder, root, instructions, end=end)


def changes_the_callers_list(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    result = by_hand(messages, summarise, folder, root, instructions)
    messages[:] = result.messages
    return result


def only_the_messages(messages, summarise, folder, root=None, instructions=FULL_SECTIONS):
    return by_hand(messages, summarise, folder, root, instructions).messages


RIGHT = [the_other_branch_first, by_hand]
WRONG = [
    (summary_first, "first", "when it is asked, there is none yet"),
    (without_the_path, "path", "Without the path nobody finds the file again"),
    (the_whole_path, "path", "a path that the agent's tools do not know"),
    (ignores_root, "path", "hand root on"),
    (loses_the_system_message, "three", "outlives every compaction"),
    (commits_an_empty_summary, "failure", "would be the end of the task"),
    (lets_the_error_out, "failure", "the line is down"),
    (not_counted_as_failed, "failure", "The agent counts failures"),
    (without_acknowledgement, "three", "instead of going on"),
    (forgets_what_is_unread, "unread", "they are what comes next"),
    (summarises_what_is_unread, "unread", "it would be told twice"),
    (always_acknowledges, "unread", "5 messages"),
    (saves_the_old_part_only, "snapshot", "the whole history in it"),
    (keeps_the_path_to_itself, "snapshot", "no path"),
    (own_instructions, "instructions", "the section 'Weather'"),
    (counts_exactly, "numbers", "in its own measure"),
    (changes_the_callers_list, "three", "never change messages itself"),
    (only_the_messages, "three", "a Compaction"),
]
