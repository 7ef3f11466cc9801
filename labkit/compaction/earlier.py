"""The message that holds an earlier summary: how it is written, and how it is recognised at the next round.

It stands directly after the system part and is a user message: a summary in the assistant's name would be
taken for something the model said itself. Some forms are followed by an assistant message that acknowledges
it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from labkit.messages import Message, assistant, calls_of, text_of, user

COUNT_HEADING = "[Context summary - earlier conversation]"
SAFE_CUT_HEADING = "[Earlier in this task]"
FULL_HEADING = "[Context has been compressed. Memory: {path}]"
HEADING = re.compile(
    r"\A(?:\[Context summary - earlier conversation\]|\[Earlier in this task\]"
    r"|\[Context has been compressed\. Memory: [^\n]*\])[ \n]*"
)
ACKNOWLEDGEMENT = "Understood. I have the summary of what came before and go on from there."
LEDGER_HEADING = "[Files and commands so far, from the tool calls themselves]"
WORDS_HEADING = "[The user's own words, from the messages summarised above]"
CUT_WORDS = "\n[... older words left out here ...]\n"


@dataclass(frozen=True)
class Earlier:
    """A part of a history, apart: what an earlier compaction left at its head, and the messages after that.

    `text` is the earlier summary, `ledger` the list of files under it, `words` the user's own words under
    that.
    """

    text: str = ""
    ledger: str = ""
    words: str = ""
    messages: list[Message] = field(default_factory=list)

    def to_hand_over(self, words_stay: bool = False) -> str:
        """What the next summariser gets to update: all, except what stays in the history anyway."""
        parts = [self.text, self.ledger] if not words_stay else [self.text]
        return with_words("\n\n".join(part for part in parts if part), "" if words_stay else self.words)


def take_earlier(old: Sequence[Message]) -> Earlier:
    """Take an earlier summary (and its acknowledgement) from the head of `old`, which has no system part.

    Only there and only in a user's message, so that a text which quotes the heading is not taken for one.
    """
    content = text_of(old[0].get("content")) if old and old[0].get("role") == "user" else ""
    heading = HEADING.match(content)
    if not heading:
        return Earlier(messages=list(old))
    body, words = divided(content[heading.end() :], WORDS_HEADING)
    text, ledger = divided(body, LEDGER_HEADING)
    answered = len(old) > 1 and is_acknowledgement(old[1])
    return Earlier(text.strip(), ledger.strip(), words.strip("\n"), list(old[2 if answered else 1 :]))


def is_acknowledgement(message: Message) -> bool:
    """Whether it is our answer to a summary, whatever keys a client has added to it since."""
    said = message.get("role") == "assistant" and text_of(message.get("content"))
    return said == ACKNOWLEDGEMENT and not calls_of(message)


def divided(text: str, heading: str) -> tuple[str, str]:
    """What stands before and after a heading. Only a line of its own counts, so no path can pose as one."""
    before, _, after = f"\n{text}\n".partition(f"\n{heading}\n")
    return before[1:], after.removesuffix("\n")


def summary_pair(heading: str, summary: str, recent: Sequence[Message]) -> list[Message]:
    """The summary as a user message and, unless the kept messages begin with the assistant, its answer.

    So that user and assistant take turns: some providers accept nothing else.
    """
    pair = [user(f"{heading}\n\n{summary}")]
    if not recent or recent[0].get("role") != "assistant":
        pair.append(assistant(ACKNOWLEDGEMENT))
    return pair


def with_words(summary: str, words: str, ledger: str = "") -> str:
    """The summary and, under fixed lines, the ledger of files and the user's own words, if any."""
    for line in (WORDS_HEADING, LEDGER_HEADING):
        summary = summary.replace(line, line[1:])  # not "": what is left might come together as one again
    parts = [summary.strip()]
    parts += [f"{LEDGER_HEADING}\n{ledger}"] if ledger else []
    parts += [f"{WORDS_HEADING}\n{words}"] if words else []
    return "\n\n".join(parts)


def user_words(earlier: Earlier, most: int) -> str:
    """The user's own words, word for word: those carried over, then each newer user message.

    All of them, if they have at most `most` characters. If not, a long message keeps its head and its tail,
    and so does the whole: the first request and the newest ones stay.
    """
    users = [message for message in earlier.messages if message.get("role") == "user"]
    said = [text_of(message.get("content")).strip() for message in users]
    for longest in (most, most // 2):
        words = [f"- {cut_middle(text, longest, CUT_WORDS)}" for text in said if text]
        whole = "\n".join([earlier.words, *words] if earlier.words else words)
        if len(whole) <= most:
            return whole
    return cut_middle(whole, most, CUT_WORDS)


def cut_middle(text: str, most: int, marker: str) -> str:
    """The text if it has at most `most` characters, else its head and its tail with the marker between.

    >>> cut_middle("abcdefghij", 5, "..")
    'ab..j'
    """
    if len(text) <= most:
        return text
    room = max(0, most - len(marker))
    tail = room // 3
    return text[: room - tail] + marker + (text[-tail:] if tail else "")
