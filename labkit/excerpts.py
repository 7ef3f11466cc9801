"""Long text for a model: head and tail are kept, and what was cut between them is named."""

from __future__ import annotations

from collections.abc import Sequence

MAX_CHARACTERS = 20_000
"""Of one tool result. The playground's article (about 14,000 characters) comes whole."""

MAX_LINE = 300
"""Characters of a line that a search has found."""

_HEAD_SHARE = 0.6  # a file's beginning says more of what it is than its end


def cut_middle(text: str, limit: int = MAX_CHARACTERS, advice: str = "") -> str:
    """At most about `limit` characters of a text: its head and tail, with the cut between them named.

    >>> cut_middle("abcdefghij", limit=5)
    'abc\\n[... 5 characters left out here ...]\\nij'
    """
    if len(text) <= limit:
        return text
    head = int(limit * _HEAD_SHARE)
    tail = limit - head
    left_out = f"{len(text) - limit:,} characters left out here"
    return f"{text[:head]}\n[... {left_out}{'. ' + advice if advice else ''} ...]\n{text[len(text) - tail :]}"


def line_excerpt(lines: Sequence[str], start: int, count: int, limit: int = MAX_CHARACTERS) -> str:
    """`count` lines from line `start` (the first is 1), whole if they fit into `limit` characters.

    Lines come with their line ends. What is left out, and how to read it, stands where it was left out.
    """
    end = min(len(lines), start - 1 + count)
    chosen = lines[start - 1 : end]
    text = "".join(chosen)
    if len(text) > limit:
        text = _cut_between_lines(chosen, start, len(lines), limit)
    if end < len(lines):
        text = _closed(text) + f"[lines {start} to {end} of {len(lines)}; read on with start_line={end + 1}]"
    return text


def _cut_between_lines(chosen: Sequence[str], start: int, total: int, limit: int) -> str:
    head = _how_many_fit(chosen, int(limit * _HEAD_SHARE))
    tail = _how_many_fit(chosen[head:][::-1], limit - int(limit * _HEAD_SHARE))
    if not head:  # the very first line is too long: no line number leads into its middle
        return cut_middle("".join(chosen), limit, "search_text finds single places in long lines")
    cut = chosen[head : len(chosen) - tail]
    first, last = start + head, start + len(chosen) - tail - 1
    size = sum(map(len, cut))
    note = f"[... lines {first} to {last} of {total} left out here ({size:,} characters). "
    note += f"Read them with start_line={first} and max_lines={last - first + 1} ...]\n"
    return _closed("".join(chosen[:head])) + note + "".join(chosen[len(chosen) - tail :])


def _how_many_fit(lines: Sequence[str], limit: int) -> int:
    used = 0
    for number, line in enumerate(lines):
        used += len(line)
        if used > limit:
            return number
    return len(lines)


def _closed(text: str) -> str:
    return text if text.endswith("\n") or not text else text + "\n"


def matching_lines(path: str, text: str, wanted: str) -> list[str]:
    """A row for each line of a file's text that holds `wanted` (case folded): path, line number, line.

    >>> matching_lines("notes.md", "Buy tea.\\nBUY milk.\\n", "buy")
    ['notes.md:1: Buy tea.', 'notes.md:2: BUY milk.']
    """
    return [
        f"{path}:{number}: {_around(line, wanted)}"
        for number, line in enumerate(text.split("\n"), 1)
        if wanted in line.casefold()
    ]


def _around(line: str, wanted: str) -> str:
    """A matching line; of a long one, the part with the match."""
    line = line.strip()
    if len(line) <= MAX_LINE:
        return line
    start = max(0, line.casefold().find(wanted) - MAX_LINE // 3)
    return cut_middle("..." * bool(start) + line[start : start + MAX_LINE] + "...", 2 * MAX_LINE)
