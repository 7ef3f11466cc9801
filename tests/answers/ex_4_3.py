"""Answers to exercise 4.3: right ones of different build, and wrong ones with the words meant for them."""

from labkit.compaction.asking import ask_summary
from labkit.compaction.base import Compaction, commit, exact_tokens, unchanged
from labkit.compaction.earlier import ACKNOWLEDGEMENT, SAFE_CUT_HEADING
from labkit.compaction.safe_cut import choose_cut
from labkit.compaction.summary import SAFE_CUT_SECTIONS, render_history, summary_request
from labkit.messages import assistant, system, system_length, text_of, user
from labkit.tokens import estimate_tokens


def one_way_out(messages, summarise, limit=6000, keep_recent=2):
    tokens, cut, start = estimate_tokens(messages), choose_cut(messages, keep_recent), system_length(messages)
    reason, failed = "not needed", False
    if tokens > limit and cut is not None:
        summary = ask_summary(messages[start:cut], summarise, SAFE_CUT_SECTIONS)
        if not summary.problem:
            message = user(f"{SAFE_CUT_HEADING} {summary.text}")
            return commit(messages, [*messages[:start], message, *messages[cut:]], estimate_tokens)
        reason, failed = summary.problem, summary.asked
    return unchanged(messages, tokens, reason, failed=failed)


def by_hand(messages, summarise, limit=6000, keep_recent=2):
    tokens, cut = estimate_tokens(messages), choose_cut(messages, keep_recent)
    if tokens <= limit or not cut:
        return Compaction([*messages], False, "not needed", tokens, tokens)
    start = system_length(messages)
    summary = ask_summary(messages[start:cut], summarise, SAFE_CUT_SECTIONS)
    shorter = [*messages[:start], user(f"{SAFE_CUT_HEADING} {summary.text}"), *messages[cut:]]
    after = estimate_tokens(shorter)
    if summary.problem or after >= tokens:
        return Compaction(messages[:], False, summary.problem or "no smaller", tokens, tokens, failed=True)
    return Compaction(shorter, True, "made shorter", tokens, after)


def variant(
    messages,
    summarise,
    limit,
    keep_recent,
    *,
    size=estimate_tokens,
    cut_of=choose_cut,
    ask=lambda old, summarise: ask_summary(old, summarise, SAFE_CUT_SECTIONS),
    message=lambda text: [user(f"{SAFE_CUT_HEADING} {text}")],
    finish=lambda messages, shorter: commit(messages, shorter, estimate_tokens),
):
    """The right answer with one piece of it exchanged."""
    tokens, cut, start = size(messages), cut_of(messages, keep_recent), system_length(messages)
    if tokens <= limit or cut is None:
        return unchanged(messages, tokens, "not needed")
    summary = ask(messages[start:cut], summarise)
    if summary.problem:
        return unchanged(messages, tokens, summary.problem, failed=summary.asked)
    return finish(messages, [*messages[:start], *message(summary.text), *messages[cut:]])


def returns_its_argument(messages, summarise, limit=6000, keep_recent=2):
    tokens = estimate_tokens(messages)
    if tokens <= limit or choose_cut(messages, keep_recent) is None:
        return Compaction(messages, False, "nothing to do", tokens, tokens)
    return one_way_out(messages, summarise, limit, keep_recent)


def its_argument_when_nothing_can_be_cut(messages, summarise, limit=6000, keep_recent=2):
    if choose_cut(messages, keep_recent) is None:
        tokens = estimate_tokens(messages)
        return Compaction(messages, False, "nothing to cut", tokens, tokens)
    return one_way_out(messages, summarise, limit, keep_recent)


def sends_the_main_history(messages, summarise, limit=6000, keep_recent=2):
    def ask(old, summarise):
        def on_the_history(_request, most):
            return summarise([*messages, user("Summarise the conversation.")], most)

        return ask_summary(old, on_the_history, SAFE_CUT_SECTIONS)

    return variant(messages, summarise, limit, keep_recent, ask=ask)


def the_agents_system_message(messages, summarise, limit=6000, keep_recent=2):
    def ask(old, summarise):
        def as_the_agent(request, most):
            return summarise([messages[0], *request[1:]], most)

        return ask_summary(old, as_the_agent, SAFE_CUT_SECTIONS)

    return variant(messages, summarise, limit, keep_recent, ask=ask)


def passes_tools(messages, summarise, limit=6000, keep_recent=2):
    def ask(old, summarise):
        def with_tools(request, most):
            return summarise(request, most, tools=[{"type": "function"}])

        return ask_summary(old, with_tools, SAFE_CUT_SECTIONS)

    return variant(messages, summarise, limit, keep_recent, ask=ask)


def as_assistant(messages, summarise, limit=6000, keep_recent=2):
    def message(text):
        return [assistant(f"{SAFE_CUT_HEADING} {text}")]

    return variant(messages, summarise, limit, keep_recent, message=message)


def as_system(messages, summarise, limit=6000, keep_recent=2):
    def message(text):
        return [system(f"{SAFE_CUT_HEADING} {text}")]

    return variant(messages, summarise, limit, keep_recent, message=message)


def as_a_pair(messages, summarise, limit=6000, keep_recent=2):
    def message(text):
        return [user(f"{SAFE_CUT_HEADING} {text}"), assistant(ACKNOWLEDGEMENT)]

    return variant(messages, summarise, limit, keep_recent, message=message)


def without_a_heading(messages, summarise, limit=6000, keep_recent=2):
    return variant(messages, summarise, limit, keep_recent, message=lambda text: [user(text)])


def counts_exactly(messages, summarise, limit=6000, keep_recent=2):
    return variant(messages, summarise, limit, keep_recent, size=exact_tokens)


def at_the_limit(messages, summarise, limit=6000, keep_recent=2):
    return one_way_out(messages, summarise, limit - 1, keep_recent)


def always_six_thousand(messages, summarise, limit=6000, keep_recent=2):
    return one_way_out(messages, summarise, 6000, keep_recent)


def always(messages, summarise, limit=6000, keep_recent=2):
    return variant(messages, summarise, -1, keep_recent)


def never(messages, summarise, limit=6000, keep_recent=2):
    return unchanged(messages, estimate_tokens(messages), "not needed")


def exact_figures(messages, summarise, limit=6000, keep_recent=2):
    return variant(messages, summarise, limit, keep_recent, finish=commit)


def a_slice(messages, summarise, limit=6000, keep_recent=2):
    def cut_of(messages, keep_recent):
        cut = len(messages) - keep_recent
        return cut if cut > system_length(messages) else None

    return variant(messages, summarise, limit, keep_recent, cut_of=cut_of)


def always_two(messages, summarise, limit=6000, keep_recent=2):
    return one_way_out(messages, summarise, limit)


def the_end_when_nothing_can_be_cut(messages, summarise, limit=6000, keep_recent=2):
    def cut_of(messages, keep_recent):
        return choose_cut(messages, keep_recent) or len(messages)

    return variant(messages, summarise, limit, keep_recent, cut_of=cut_of)


def summarises_everything(messages, summarise, limit=6000, keep_recent=2):
    def ask(old, summarise):
        return ask_summary(messages[1:], summarise, SAFE_CUT_SECTIONS)

    return variant(messages, summarise, limit, keep_recent, ask=ask)


def lets_the_error_out(messages, summarise, limit=6000, keep_recent=2):
    tokens, cut, start = estimate_tokens(messages), choose_cut(messages, keep_recent), system_length(messages)
    if tokens <= limit or cut is None:
        return unchanged(messages, tokens, "not needed")
    text = summarise(summary_request(messages[start:cut], SAFE_CUT_SECTIONS), 400).text
    shorter = [*messages[:start], user(f"{SAFE_CUT_HEADING} {text}"), *messages[cut:]]
    return commit(messages, shorter, estimate_tokens)


def believes_any_reply(messages, summarise, limit=6000, keep_recent=2):
    tokens, cut, start = estimate_tokens(messages), choose_cut(messages, keep_recent), system_length(messages)
    if tokens <= limit or cut is None:
        return unchanged(messages, tokens, "not needed")
    try:
        text = summarise(summary_request(messages[start:cut], SAFE_CUT_SECTIONS), 400).text
    except Exception as error:
        return unchanged(messages, tokens, str(error), failed=True)
    shorter = [*messages[:start], user(f"{SAFE_CUT_HEADING} {text}"), *messages[cut:]]
    return commit(messages, shorter, estimate_tokens)


def a_placeholder(messages, summarise, limit=6000, keep_recent=2):
    tokens, cut, start = estimate_tokens(messages), choose_cut(messages, keep_recent), system_length(messages)
    if tokens <= limit or cut is None:
        return unchanged(messages, tokens, "not needed")
    text = ask_summary(messages[start:cut], summarise, SAFE_CUT_SECTIONS).text or "(no summary)"
    shorter = [*messages[:start], user(f"{SAFE_CUT_HEADING} {text}"), *messages[cut:]]
    return commit(messages, shorter, estimate_tokens)


def does_not_measure(messages, summarise, limit=6000, keep_recent=2):
    def finish(messages, shorter):
        return Compaction(shorter, True, "shorter", estimate_tokens(messages), estimate_tokens(shorter))

    return variant(messages, summarise, limit, keep_recent, finish=finish)


def keeps_the_first_summary(messages, summarise, limit=6000, keep_recent=2):
    first = [m for m in messages[1:2] if text_of(m["content"]).startswith(SAFE_CUT_HEADING)]

    def message(text):
        return [*first, user(f"{SAFE_CUT_HEADING} {text}")]

    return variant(messages, summarise, limit, keep_recent, message=message)


def drops_the_first_summary(messages, summarise, limit=6000, keep_recent=2):
    def ask(old, summarise):
        new = [m for m in old if not text_of(m["content"]).startswith(SAFE_CUT_HEADING)]
        return ask_summary(new, summarise, SAFE_CUT_SECTIONS)

    return variant(messages, summarise, limit, keep_recent, ask=ask)


def only_the_messages(messages, summarise, limit=6000, keep_recent=2):
    return one_way_out(messages, summarise, limit, keep_recent).messages


def changes_the_callers_list(messages, summarise, limit=6000, keep_recent=2):
    result = one_way_out(messages, summarise, limit, keep_recent)
    messages[:] = result.messages
    return result


def summary_by_rendering(messages, summarise, limit=6000, keep_recent=2):
    """Asks in its own words and forgets what the compressor is."""

    def ask(old, summarise):
        def plainly(_request, most):
            return summarise([user(f"Summarise:\n{render_history(old)}")], most)

        return ask_summary(old, plainly, SAFE_CUT_SECTIONS)

    return variant(messages, summarise, limit, keep_recent, ask=ask)


RIGHT = [one_way_out, by_hand]
WRONG = [
    (returns_its_argument, "copy", "the very list that was handed in"),
    (its_argument_when_nothing_can_be_cut, "copy", "messages.clear()"),
    (sends_the_main_history, "own-messages", "invites it to go on with the talk"),
    (the_agents_system_message, "own-messages", "the compressor's own system message"),
    (summary_by_rendering, "own-messages", "1 message: user"),
    (passes_tools, "no-tools", "a call is no summary"),
    (as_assistant, "user-message", "believe its own invention"),
    (as_system, "user-message", "role 'system'"),
    (as_a_pair, "replaces", "This system has the summary alone"),
    (without_a_heading, "user-message", "SAFE_CUT_HEADING"),
    (counts_exactly, "estimate", "Another measure strikes at another place"),
    (at_the_limit, "estimate", "at it or below it do not"),
    (always_six_thousand, "within", "limit 20,000"),
    (always, "within", "only when it is needed"),
    (never, "replaces", "it is not asked"),
    (exact_figures, "figures", "by the same estimate"),
    (a_slice, "keep-recent", "A slice of your own may part a call from its result"),
    (always_two, "keep-recent", "keep_recent is handed on"),
    (the_end_when_nothing_can_be_cut, "nothing-to-cut", "the summariser is not asked"),
    (summarises_everything, "old-only", "told twice"),
    (lets_the_error_out, "failure", "the line is down"),
    (believes_any_reply, "useless", "the placeholder would replace the history for ever"),
    (a_placeholder, "failure", "Without a summary the old messages are all there is"),
    (does_not_measure, "no-gain", "The heading costs tokens"),
    (keeps_the_first_summary, "second-round", "2 of them summaries"),
    (drops_the_first_summary, "second-round", "a request with the first summary in it"),
    (only_the_messages, "within", "a Compaction"),
    (changes_the_callers_list, "replaces", "never change messages itself"),
]
