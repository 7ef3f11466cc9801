"""Reading without understanding: the most telling sentences of a text, and the sentence that answers a
question.

Works on words that two texts share. English words are compared by their stems, Chinese by pairs of
characters.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_STOP_WORDS = [
        "a", "an", "the", "and", "or", "but", "of", "to", "in", "on", "at", "by", "for", "with", "from",
        "as", "is", "are", "was", "were", "be", "been", "being", "it", "its", "this", "that", "these",
        "those", "he", "she", "they", "them", "his", "her", "their", "we", "you", "i", "my", "your",
        "our", "me", "us", "not", "no", "so", "if", "than", "then", "there", "here", "which", "who",
        "what", "when", "where", "why", "how", "do", "does", "did", "done", "has", "have", "had", "can",
        "could", "may", "might", "must", "shall", "should", "will", "would", "about", "into", "over",
        "under", "again", "more", "most", "some", "any", "each", "all", "both", "few", "other", "such",
        "only", "own", "same", "too", "very", "just", "because", "tell", "say", "says", "said",
        "please", "give", "according", "know", "many", "much", "long", "wide", "large", "big", "high",
        "deep", "old"
]  # fmt: skip
_STOP = frozenset(_STOP_WORDS)
_STOP_ZH = frozenset(
    "的了是在我你他她它们这那和与或就都也还有没不被把给让从到对于吗呢吧啊什么哪个怎样请问多少为了"
)
_SENTENCE = re.compile(r"(?<=[.!?])[\"”’)*_]*\s+(?=[\"“‘(*_`]?[A-Z0-9\u4e00-\u9fff])|(?<=[。！？])[”」）]?")


@dataclass(frozen=True)
class Passage:
    """A sentence, and where it stands (a path, or `user`, `assistant`, `summary`)."""

    source: str
    text: str


def sentences(text: str) -> list[str]:
    """The sentences of a text: headings, code, tables and list bullets are taken apart by line.

    >>> sentences("# Title\\nOne is here. Two is there.\\n- item")
    ['Title', 'One is here.', 'Two is there.', 'item']
    """
    found = []
    for line in text.splitlines():
        line = re.sub(r"^\s*(?:#+|[-*•>]|\d+[.)])\s+", "", line).strip()
        if line and not re.fullmatch(r"[|\s:=`~-]+", line):
            found += [part.strip() for part in _SENTENCE.split(line) if part and part.strip()]
    return found


def terms(text: str) -> list[str]:
    """The telling words of a text: stems of English words, numbers, pairs of Chinese characters.

    >>> terms("The ponds were measured in 1702"), terms("会议日期")
    (['pond', 'measur', '1702'], ['会议', '议日', '日期'])
    """
    words = [stem(word) for word in re.findall(r"[a-z0-9][a-z0-9'-]*", text.lower()) if word not in _STOP]
    for run in re.findall(r"[\u4e00-\u9fff]+", text):
        pairs = [run[place : place + 2] for place in range(len(run) - 1)]
        words += [pair for pair in pairs if not set(pair) & _STOP_ZH]
    return words


def stem(word: str) -> str:
    """An English word without its ending: rough, but the same for both texts."""
    word = word.removesuffix("'s").strip("'-")
    if word.isdigit() or len(word) < 4:
        return word
    for ending in ("ies", "ing", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


# --- the main points of a text ----------------------------------------------------------------------------


def main_points(text: str, number: int) -> list[str]:
    """The `number` sentences that say most of a text, in its own order and words.

    A sentence counts by how often the text uses its words; it counts more in the first paragraph, and when it
    says itself that it is the main point. A sentence that repeats one chosen before counts less.
    """
    prose = [
        each for each in _prose(text) if 20 <= len(each) <= 600 or (len(each) >= 8 and _has_chinese(each))
    ]
    candidates = prose if len(prose) >= number else sentences(text)
    weights = Counter(term for each in candidates for term in set(terms(each)))
    for heading in re.findall(r"^#+ (.+)$", text, re.M):
        weights.update({term: 3 for term in terms(heading) if term in weights})
    chosen: list[int] = []
    covered: set[str] = set()
    scores = [_weight(each, place, len(candidates), weights) for place, each in enumerate(candidates)]
    while len(chosen) < min(number, len(candidates)):
        best = max(
            (place for place in range(len(candidates)) if place not in chosen),
            key=lambda place: (scores[place] * (1 - 0.6 * _overlap(candidates[place], covered)), -place),
        )
        chosen.append(best)
        covered |= set(terms(candidates[best]))
    return [candidates[place] for place in sorted(chosen)]


def _prose(text: str) -> list[str]:
    """The sentences of the running text, in order: no headings, tables, code or lists."""
    body = re.sub(r"```.*?(```|\Z)", "", text, flags=re.S)
    lines = [line for line in body.splitlines() if not re.match(r"\s*(#|\||[-*•>]\s|\d+[.)]\s)", line)]
    return sentences("\n".join(lines))


def _weight(sentence: str, place: int, count: int, weights: Counter[str]) -> float:
    own = set(terms(sentence))
    if not own:
        return 0.0
    score = sum(math.sqrt(weights[term]) for term in own) / (len(own) + 7)
    score /= 1 + max(0, len(own) - 14) / 28  # a long sentence says much, but it is no main point
    if re.search(
        r"\b(main|key|central) (point|idea|message)|above all|in short|the lesson is\b"
        r"|主旨|要点|总之|归根结底|最重要",
        sentence,
        re.I,
    ):
        score *= 1.8
    if place < 5:
        score *= 1.6
    elif place >= count - count // 10:
        score *= 1.3
    return score


def _overlap(sentence: str, covered: set[str]) -> float:
    own = set(terms(sentence))
    return len(own & covered) / len(own) if own else 1.0


def _has_chinese(text: str) -> bool:
    return re.search(r"[\u4e00-\u9fff]", text) is not None


# --- the answer to a question -----------------------------------------------------------------------------


def look_up(question: str, passages: Sequence[Passage]) -> Passage | None:
    """The passage that shares most of the question's telling words; None when none shares enough of them.

    Rare words count more. A word that no passage has counts most of all, against every answer: so a question
    about something that is not there gets no answer.
    """
    wanted = list(dict.fromkeys(terms(question)))
    if not wanted or not passages:
        return None
    held = [set(terms(passage.text)) for passage in passages]
    seen = Counter(term for own in held for term in own)
    rarity = {term: math.log((len(passages) + 1) / (seen[term] + 0.5)) + 0.2 for term in wanted}
    total = sum(rarity.values())
    number_asked = re.search(
        r"\b(how many|how (wide|long|much|high|deep|old)|when|what (year|date|time))\b"
        r"|多少|几|何时|哪年|什么时候|日期",
        question,
        re.I,
    )

    def score(place: int) -> float:
        shared = sum(rarity[term] for term in wanted if term in held[place]) / total
        bonus = (
            0.1 if number_asked and re.search(r"\d|[一二三四五六七八九十百千万]", passages[place].text) else 0
        )
        return shared + (bonus if shared else 0) - len(held[place]) / 400

    best = max(range(len(passages)), key=lambda place: (score(place), -place))
    shared = [term for term in wanted if term in held[best]]
    enough = sum(rarity[term] for term in shared) / total
    sure = enough >= 0.6 or (len(shared) >= 2 and enough >= 0.45) or (len(shared) >= 3 and enough >= 0.35)
    return passages[best] if sure else None


def passages_of(source: str, text: str) -> Iterable[Passage]:
    """A text's sentences as passages, headings apart: they name a thing and do not tell it."""
    told = re.sub(r"^\s*#+ .*$", "", text, flags=re.M)
    return (Passage(source, each) for each in sentences(told))


def telling_words(question: str) -> list[str]:
    """The words of a question that are worth searching for, the most telling first."""
    marked = re.findall(r"`([^`]+)`|\"([^\"]+)\"|“([^”]+)”", question)
    words = [word for word in re.findall(r"[A-Za-z0-9][\w'-]*", question) if word.lower() not in _STOP]
    named = [word for word in words if word[0].isupper() or word[0].isdigit()]
    chinese = [
        run for run in re.split(r"[^\u4e00-\u9fff]+|[" + "".join(_STOP_ZH) + "]+", question) if len(run) >= 2
    ]
    ranked = [*("".join(parts) for parts in marked), *named, *sorted(words, key=len, reverse=True), *chinese]
    return [word for word in dict.fromkeys(ranked) if len(word) > 1]
