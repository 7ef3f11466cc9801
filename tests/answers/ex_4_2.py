"""Answers to exercise 4.2: right ones of different build, and wrong ones with the words meant for them."""

from labkit.messages import legal_cuts, system_length


def newest_first(messages, keep_recent=2):
    for cut in reversed(legal_cuts(messages)):
        if cut <= len(messages) - keep_recent:
            return cut if cut > system_length(messages) else None
    return None


def walking_back(messages, keep_recent=2):
    legal, start = set(legal_cuts(messages)), system_length(messages)
    cut = len(messages) - keep_recent
    while cut > start:
        if cut in legal:
            return cut
        cut -= 1
    return None


def with_max(messages, keep_recent=2):
    places = (cut for cut in legal_cuts(messages)[1:] if cut <= len(messages) - keep_recent)
    return max(places, default=None)


def moves_forward(messages, keep_recent=2):
    possible = [cut for cut in legal_cuts(messages) if cut >= len(messages) - keep_recent]
    return possible[0] if possible and possible[0] > system_length(messages) else None


def where_it_falls(messages, keep_recent=2):
    cut = len(messages) - keep_recent
    return cut if cut > system_length(messages) else None


def first_legal(messages, keep_recent=2):
    possible = [cut for cut in legal_cuts(messages)[1:] if cut <= len(messages) - keep_recent]
    return possible[0] if possible else None


def always_two(messages, keep_recent=2):
    return newest_first(messages)


def not_zero(messages, keep_recent=2):
    return newest_first(messages, keep_recent or 2)


def slice_from_minus(messages, keep_recent=2):
    recent = messages[-keep_recent:]
    return newest_first(messages, len(recent))


def raises_when_short(messages, keep_recent=2):
    return [cut for cut in legal_cuts(messages)[1:] if cut <= len(messages) - keep_recent][-1]


def says_why(messages, keep_recent=2):
    cut = newest_first(messages, keep_recent)
    if cut is None:
        raise ValueError("nothing can be cut off")
    return cut


def zero_for_nothing(messages, keep_recent=2):
    return newest_first(messages, keep_recent) or 0


def start_for_nothing(messages, keep_recent=2):
    return newest_first(messages, keep_recent) or system_length(messages)


def also_inside_the_system_part(messages, keep_recent=2):
    legal, start = set(legal_cuts(messages)), system_length(messages)
    cut = len(messages) - keep_recent
    while cut >= start and cut not in legal:
        cut -= 1
    return cut if cut > 0 and cut != start else None


def keeps_everything(messages, keep_recent=2):
    possible = [cut for cut in legal_cuts(messages) if cut <= len(messages) - keep_recent]
    return possible[-1] if possible else None


RIGHT = [newest_first, walking_back, with_max]
WRONG = [
    (moves_forward, "steps-back", "although 3 must stay"),
    (where_it_falls, "steps-back", "parts no call from its result"),
    (first_legal, "keeps-recent", "the last one that keeps enough"),
    (always_two, "keeps-recent", "len(messages) - keep_recent"),
    (not_zero, "keep-none", "0 is a number like any other"),
    (slice_from_minus, "keep-none", "From -0 a slice is the whole list"),
    (raises_when_short, "too-short", "before you take the last of none"),
    (says_why, "too-short", "What is expected is a value"),
    (zero_for_nothing, "too-short", "there is nothing to cut off"),
    (start_for_nothing, "too-short", "there is nothing to cut off"),
    (also_inside_the_system_part, "system-part", "there may be several system messages"),
    (keeps_everything, "keeps-all", "It cuts nothing off"),
]
