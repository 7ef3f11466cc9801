"""Answers to exercise 3.4: right ones of different build, and wrong ones with the words meant for them."""

from labkit.compaction.asking import ask_summary
from labkit.compaction.base import Compaction, commit, exact_tokens, unchanged
from labkit.compaction.count import rebuild, split_history
from labkit.compaction.earlier import COUNT_HEADING
from labkit.compaction.summary import COUNT_SECTIONS
from labkit.messages import assistant, text_of, user


def with_an_else(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    tokens = exact_tokens(messages)
    if len(messages) > threshold:
        system, old, recent = split_history(messages, keep_last)
        summary = ask_summary(old, summarise, instructions)
        if not summary.problem:
            return commit(messages, rebuild(system, summary.text, recent))
        return unchanged(messages, tokens, summary.problem, failed=summary.asked)
    return unchanged(messages, tokens, "short enough")


def by_hand(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    tokens, reason, failed = exact_tokens(messages), "not needed", False
    if not len(messages) <= threshold:
        system, old, recent = split_history(messages, keep_last)
        summary = ask_summary(old, summarise, instructions)
        reason, failed = summary.problem, summary.asked
        shorter = rebuild(system, summary.text, recent)
        if not reason and exact_tokens(shorter) < tokens:
            return Compaction(shorter, True, "made shorter", tokens, exact_tokens(shorter))
        reason = reason or "no smaller"
    return Compaction([*messages], False, reason, tokens, tokens, failed=failed)


def variant(
    messages,
    summarise,
    threshold,
    keep_last,
    instructions=COUNT_SECTIONS,
    *,
    needed=lambda messages, threshold: len(messages) > threshold,
    ask=ask_summary,
    make=lambda messages, system, text, recent: commit(messages, rebuild(system, text, recent)),
    give_up=lambda messages, tokens, summary: unchanged(
        messages, tokens, summary.problem, failed=summary.asked
    ),
):
    """The right answer with one piece of it exchanged."""
    tokens = exact_tokens(messages)
    if not needed(messages, threshold):
        return unchanged(messages, tokens, "not needed")
    system, old, recent = split_history(messages, keep_last)
    summary = ask(old, summarise, instructions)
    if summary.problem and give_up:
        return give_up(messages, tokens, summary)
    return make(messages, system, summary.text or "(no summary)", recent)


def at_the_threshold(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    return variant(messages, summarise, threshold, keep_last, needed=lambda m, threshold: len(m) >= threshold)


def always(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    return variant(messages, summarise, threshold, keep_last, needed=lambda m, threshold: True)


def never(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    return unchanged(messages, exact_tokens(messages), "not needed")


def commits_a_placeholder(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    return variant(messages, summarise, threshold, keep_last, instructions, give_up=None)


def believes_any_reply(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    tokens = exact_tokens(messages)
    if len(messages) <= threshold:
        return unchanged(messages, tokens, "not needed")
    system, old, recent = split_history(messages, keep_last)
    summary = ask_summary(old, summarise, instructions)
    if "failed" in summary.problem:
        return unchanged(messages, tokens, summary.problem, failed=True)
    text = summary.text or "The earlier conversation was summarised."
    return commit(messages, rebuild(system, text, recent))


def hides_the_error(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    def quietly(messages, tokens, summary):
        return unchanged(messages, tokens, "nothing to do")

    return variant(messages, summarise, threshold, keep_last, instructions, give_up=quietly)


def does_not_count_it_as_failed(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    def calmly(messages, tokens, summary):
        return unchanged(messages, tokens, summary.problem)

    return variant(messages, summarise, threshold, keep_last, instructions, give_up=calmly)


def lets_the_error_out(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    tokens = exact_tokens(messages)
    if len(messages) <= threshold:
        return unchanged(messages, tokens, "not needed")
    system, old, recent = split_history(messages, keep_last)
    asked = "\n".join([str(instructions.sections), *(text_of(message["content"]) for message in old)])
    reply = summarise([user(asked)], 500)
    return commit(messages, rebuild(system, reply.text, recent))


def compacts_ever_after(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    def needed(messages, threshold):
        again = any(text_of(m["content"]).startswith(COUNT_HEADING) for m in messages)
        return len(messages) > threshold or (again and len(messages) > 9)

    return variant(messages, summarise, threshold, keep_last, instructions, needed=needed)


def pushes(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    def make(messages, system, text, recent):
        longer = [*messages, user(f"{COUNT_HEADING}\n\n{text}"), assistant("Understood.")]
        return Compaction(longer, True, "summary pushed", exact_tokens(messages), exact_tokens(longer))

    return variant(messages, summarise, threshold, keep_last, make=make)


def changes_the_callers_list(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    result = with_an_else(messages, summarise, threshold, keep_last, instructions)
    messages[:] = result.messages
    return result


def hands_back_the_same_list(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    if len(messages) <= threshold:
        return Compaction(messages, False, "not needed", 0, 0)
    return with_an_else(messages, summarise, threshold, keep_last, instructions)


def summarises_everything(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    def ask(old, summarise, instructions):
        return ask_summary(messages[1:], summarise, instructions)

    return variant(messages, summarise, threshold, keep_last, ask=ask)


def always_twenty(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    return variant(messages, summarise, 20, keep_last)


def always_six(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    return variant(messages, summarise, threshold, 6)


def own_instructions(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    return variant(messages, summarise, threshold, keep_last)


def does_not_measure(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    def make(messages, system, text, recent):
        return Compaction(rebuild(system, text, recent), True, "shorter", exact_tokens(messages), 0)

    return variant(messages, summarise, threshold, keep_last, instructions, make=make)


def drops_the_first_summary(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    def ask(old, summarise, instructions):
        new = [m for m in old if not text_of(m["content"]).startswith(COUNT_HEADING)]
        return ask_summary(new, summarise, instructions)

    return variant(messages, summarise, threshold, keep_last, instructions, ask=ask)


def keeps_the_first_summary(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    def make(messages, system, text, recent):
        earlier = [m for m in messages if text_of(m["content"]).startswith(COUNT_HEADING)]
        return commit(messages, rebuild([*system, *earlier], text, recent))

    return variant(messages, summarise, threshold, keep_last, instructions, make=make)


def only_the_messages(messages, summarise, threshold=20, keep_last=6, instructions=COUNT_SECTIONS):
    return with_an_else(messages, summarise, threshold, keep_last, instructions).messages


RIGHT = [with_an_else, by_hand]
WRONG = [
    (at_the_threshold, "threshold", "exactly threshold is not too many"),
    (always, "short", "only when it is needed"),
    (never, "becomes-nine", "it is not asked"),
    (commits_a_placeholder, "failure", "Without a summary the old messages are all there is"),
    (believes_any_reply, "useless", "the placeholder would replace the history for ever"),
    (hides_the_error, "failure", "a reason that says why"),
    (does_not_count_it_as_failed, "failure", "failed=True"),
    (lets_the_error_out, "failure", "the line is down"),
    (compacts_ever_after, "not-again", "Look at len(messages) and nothing else"),
    (pushes, "becomes-nine", "Pushed onto them"),
    (changes_the_callers_list, "becomes-nine", "never change messages itself"),
    (hands_back_the_same_list, "short", "the very list that was handed in"),
    (summarises_everything, "old-only", "told twice"),
    (always_twenty, "settings", "threshold and keep_last are settings"),
    (always_six, "settings", "What the caller asks for is used"),
    (own_instructions, "instructions", "the section 'Weather'"),
    (does_not_measure, "no-gain", "The heading and the acknowledgement cost tokens"),
    (drops_the_first_summary, "second-round", "a request with the first summary in it"),
    (keeps_the_first_summary, "second-round", "2 of them summaries"),
    (only_the_messages, "short", "a Compaction"),
]
