"""A summariser that works by rules, without a model: it copies, it never makes up.

It reads only the request that it is given (see `transcript.py`) and writes the sections that the request asks
for, within the tokens allowed. The same request gives the same text. It is the default of every compactor,
and the understudy's voice as a compressor. It is not a language model: what no rule looks for is lost.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache

from labkit.compaction.transcript import TITLE, Assignment, Happened, clip, read_assignment, read_history
from labkit.messages import Message, assistant
from labkit.streaming import Reply
from labkit.tokens import shared_counter

KINDS = (
    ("changed", re.compile(r"chang|written|made|modified|修改|改动|写入|创建", re.IGNORECASE)),
    ("read", re.compile(r"\bread\b|读", re.IGNORECASE)),
    ("files", re.compile(r"file state|files?$|state of the files|文件状态|文件$", re.IGNORECASE)),
    ("ran", re.compile(r"command|\bran\b|命令", re.IGNORECASE)),
    ("done", re.compile(r"accomplish|完成", re.IGNORECASE)),
    ("decided", re.compile(r"decision|决定|决策", re.IGNORECASE)),
    ("state", re.compile(r"state|status|状态", re.IGNORECASE)),
    ("progress", re.compile(r"progress|next|进展|进度|下一步", re.IGNORECASE)),
    ("facts", re.compile(r"fact|事实|要点", re.IGNORECASE)),
    ("goal", re.compile(r"goal|task|request|constraint|目标|任务", re.IGNORECASE)),
)
"""What belongs under a title, by a word in it; the first that fits counts."""
ENGLISH = {
    "asked": "asked",
    "open": "in progress",
    "said": "answered",
    "read": "read",
    "changed": "changed",
    "ran": "ran",
}
CHINESE = {
    "asked": "要求",
    "open": "进行中",
    "said": "已答",
    "read": "已读",
    "changed": "已改",
    "ran": "已运行",
}
ASKED, SAID, OPEN = ({ENGLISH[name], CHINESE[name]} for name in ("asked", "said", "open"))
TALK = ASKED | SAID | OPEN
FALLBACK_TITLES = ["Goal", "Files read", "Files changed", "Commands", "Progress and next step"]
RULE = re.compile(
    r"never|must|don't|do not|only|always|不要|不得|必须|只能|\d{4}|[€$£]|\d+ (?:euro|per)", re.IGNORECASE
)
DECISION = re.compile(
    r"decid|chose|choose|instead|because|will |plan to|next|决定|选择|因为|改为|接下来", re.IGNORECASE
)
DETAIL = ((400, 8), (240, 6), (150, 4), (100, 3), (60, 2), (40, 1))
"""How much is kept, from rich to poor: characters of one quoted text, and how many of each kind."""

PLENTY = 50
"""Characters of history for each token allowed, from which on a summary is short enough as it is."""

BLOCK_START = re.compile(r"(?<=\n\n)(?=[a-z])")
"""Where a history is counted in pieces, since the next summary may hold many of them again.

No token reaches over an empty line to a letter, so the sum over the pieces is exact.
"""

Lines = dict[str, tuple[str, str]]
"""The lines of a section, each with its head, by what may stand there only once: a path, or a quotation."""


def extractive_summary(messages: list[Message], max_tokens: int) -> Reply:
    """A summary by rules of the history in a request that `summary_request` built; finish reason "stop".

    Keeps what was asked (rules, numbers and dates first), paths read, paths changed with their gist, commands
    with their key result, and what the agent said last. An earlier summary is carried over, section by
    section.

    >>> from labkit.compaction.summary import COUNT_SECTIONS, summary_request
    >>> request = summary_request([{"role": "user", "content": "Port it; never edit tests/"}], COUNT_SECTIONS)
    >>> print(extractive_summary(request, 100).text)
    ## Goal
    - asked: Port it; never edit tests/
    ## Progress and next step
    - in progress: Port it; never edit tests/
    """
    assignment = read_assignment(messages)
    happened = read_history(assignment.history)
    count = shared_counter().text
    room, known = max_tokens, count(assignment.earlier)
    if len(assignment.history) < PLENTY * max_tokens and known + 60 < max_tokens:
        new = sum(map(count, BLOCK_START.split(assignment.history)))
        room = max(1, min(room, known + max(60, new // 2)))
    kinds = [kind_of(title) for title in assignment.titles or FALLBACK_TITLES]
    earlier = earlier_items(assignment.earlier, kinds)

    @cache
    def text(level: int) -> str:
        return written(assignment, happened, earlier, *DETAIL[level])

    # the richest that fits, else the poorest
    level = bisect_left(range(len(DETAIL) - 1), True, key=lambda level: count(text(level)) <= room)
    return Reply(assistant(fitted(text(level), room, count)), "stop")


def written(
    assignment: Assignment, happened: Happened, earlier: dict[str, Lines], characters: int, many: int
) -> str:
    """The summary in this much detail."""
    words = CHINESE if assignment.chinese else ENGLISH
    sections = []
    for title in assignment.titles or FALLBACK_TITLES:
        kind = kind_of(title)
        new = items(kind, happened, words, characters, many)
        lines = thinned(earlier.get(kind, {}) | by_key(new), characters, many)
        lines = lines[-many:] if kind == "decided" else lines
        if lines:
            sections.append("\n".join([f"## {title}", *(f"- {line}" for line in lines)]))
    return "\n".join(sections)


@lru_cache(maxsize=256)
def kind_of(title: str) -> str:
    return next((kind for kind, pattern in KINDS if pattern.search(title)), "facts")


def items(kind: str, happened: Happened, words: dict[str, str], characters: int, many: int) -> Iterator[str]:
    """What belongs into a section of this kind, as lines."""
    if kind in ("goal", "facts", "state"):
        asked = kept_requests(happened.asked, many)
        yield from (f"{words['asked']}: {clip(text, characters)}" for text in asked)
    if kind in ("facts", "state", "progress"):
        said = happened.said[-max(1, many // 2) :]
        yield from (f"{words['said']}: {clip(text, characters)}" for text in said)
    if kind in ("state", "progress") and happened.asked and not happened.answered:
        yield f"{words['open']}: {clip(happened.asked[-1], characters)}"
    if kind == "decided":
        yield from (clip(text, characters) for text in decisions(happened))
    for name in ("read", "changed", "ran"):
        if kind == name or kind == "done" or (kind == "files" and name != "ran"):
            label = "" if kind == name else f"{words[name]} "
            entries: dict[str, str] = getattr(happened, name)
            yield from (entry(f"{label}{key}", gist, characters) for key, gist in entries.items())


def entry(key: str, gist: str, characters: int) -> str:
    """A path or a command, and its gist if there is room for one."""
    gist = clip(gist, characters // 2)
    return f"{key}: {gist}" if gist and characters > 60 else key


def decisions(happened: Happened) -> list[str]:
    """Of the last sentences that the agent said, in its answers and beside its calls, those that decide."""
    texts = [*happened.remarked[-4:], *happened.said[-4:]]
    parts = [part for text in texts for part in sentences(text)]
    return [text for text, decides in parts[-8:] if decides]


@lru_cache(maxsize=512)  # asked once for each level of detail
def sentences(text: str) -> list[tuple[str, bool]]:
    """The sentences of a text, each with whether it tells of a decision."""
    parts = re.split(r"(?<=[.!?])\s+|(?<=[。！？])|\n+", text)
    return [(part, DECISION.search(part) is not None) for part in parts if part.strip()]


def kept_requests(asked: list[str], many: int) -> list[str]:
    """The first request, those that hold a rule, a number or a date, and the newest; in their order."""
    order = sorted(range(len(asked)), key=lambda index: (index != 0, not has_rule(asked[index]), -index))
    return [asked[index] for index in sorted(order[:many])]


@lru_cache(maxsize=1024)  # the same texts come up in every summary of a session
def has_rule(text: str) -> bool:
    """Whether a text holds a rule, a number or a date."""
    return RULE.search(text) is not None


def earlier_items(summary: str, kinds: list[str]) -> dict[str, Lines]:
    """The lines of an earlier summary by kind; what stands under no known title goes to the first.

    What was open then is left out: it may be done now, and if it is not, it is among the new lines.
    """
    found: dict[str, list[str]] = {}
    kind = kinds[0]
    for line in summary.splitlines():
        title = TITLE.match(line)
        if title:
            named = kind_of(title.group(1))
            kind = named if named in kinds else kinds[0]
        elif line.strip(" -*\t"):
            found.setdefault(kind, []).append(line.strip().removeprefix("- ").removeprefix("* "))
    return {
        kind: by_key(line for line in lines if head_of(line) not in OPEN) for kind, lines in found.items()
    }


def by_key(lines: Iterable[str]) -> Lines:
    """The lines, of two about one path only the newer, in the place of the older."""
    headed = ((head_of(line), line) for line in lines)
    return {line if head in TALK else head: (head, line) for head, line in headed}


def thinned(lines: Lines, characters: int, many: int) -> list[str]:
    """The lines in this much detail: talk is thinned, paths are not."""
    asked = [line for head, line in lines.values() if head in ASKED]
    said = [line for head, line in lines.values() if head in SAID]
    dropped = {*asked, *said} - {*kept_requests(asked, many), *said[-max(1, many // 2) :]}
    return [shorter(line, characters) for _, line in lines.values() if line not in dropped]


@lru_cache(maxsize=4096)  # the lines of an earlier summary come up again and again
def shorter(line: str, characters: int) -> str:
    """A line with its text clipped; the path or the label before the colon stays whole."""
    head, colon, text = line.partition(": ")
    return f"{head}{colon}{clip(text, characters)}" if colon else clip(line, 2 * characters)


def head_of(line: str) -> str:
    """What stands before the colon: the label of a quotation, or a path; the line itself without one."""
    return line.partition(": ")[0]


def fitted(text: str, most: int, count: Callable[[str], int]) -> str:
    """The text, cut at its end where even the poorest form has too many tokens."""
    if count(text) <= most:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle].rstrip() + "…") <= most else (low, middle - 1)
    return text[:low].rstrip() + "…" if low else text[:1]
