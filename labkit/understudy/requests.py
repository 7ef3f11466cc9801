"""What a user's words ask for: a request becomes a list of steps. English and Chinese.

Rules, not understanding: a request is cut into clauses, each clause is known by its verb, and marked words
(`code`, quotes, file names) are what the verb works on.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from labkit.understudy.marks import Mark, hide, marks_in, show

NUMBERS = {
    word: number
    for number, words in enumerate(
        (
            "a single one 一",
            "two 二 两",
            "three 三",
            "four 四",
            "five 五",
            "six 六",
            "seven 七",
            "eight 八",
            "nine 九",
            "ten 十",
        ),
        start=1,
    )
    for word in words.split()
}
_NUMBER = "|".join(["\\d+", *NUMBERS])

VERBS: dict[str, str] = {
    "repair": r"\b(fix|repair|debug)\b|failing test|修复|修好|修正|改正|失败的测试|没通过的测试",
    "write": r"\b(writ(e|ing)|save|store|put|append|add)\b(?=.*\b(to|into|in|as)\b)|\bcreate\b.*\bfile\b"
    r"|写入|写进|写到|写在|保存到|存到|存入|存进|追加|记录到|新建|创建",
    "summarise": r"\bsummari[sz](e|ing)\b|\b(give|state|tell|write|name|explain)\b.*?"
    r"\b((main|key|central) (points?|ideas?|message)|gist|a( \S+)?( \S+)? summary|summary of)"
    r"|概括|归纳|提炼|总结(?!和|与|连|一起|写|放)|(给出|说出|说说|说明|告诉我|写出|讲讲).{0,16}?(要点|主旨|大意|中心|主要|核心|摘要)",
    "count": r"\bcount\b|\bhow many (lines|words|characters|letters|times)\b|统计|数一数|数一下|多少(行|字|个字|个词)|几行|几个字",
    "search": r"\b(search|grep)\b|\blook for\b|\bfind\b(?! out)|\bwhich files? (mention|contain|use)|搜索|搜一下|查找|找出|寻找|哪(些|个)文件.{0,4}(提到|包含)",
    "list": r"^\W*(please )?list\b|\blist\b(?=.*\b(files?|folders?|director|contents|everything))|\bwhat files\b|\bwhich files (are|exist)\b|\b(show|see)\b.*\b(files|folder|directory)\b|列出|有哪些文件|有什么文件|看看目录",
    "run": r"\b(run|execute)\b|运行|执行|跑一(下|遍)|跑测试",
    "read": r"\b(re-?read|read|open|view|inspect|cat)\b|\blook (at|into|through)\b|\bshow me\b"
    r"|\bwhat('s| is) in(side)?\b|\bwhat does\b.*\b(say|contain)\b|读|查看|打开|看一?下|看看|看一看|里(面)?(写了|有)什么",
}
"""How each kind of step is known, in order of precedence: a clause may hold a `summarise` and a `write` at once."""

QUESTION = re.compile(
    r"^\W*(and |so |but |now |please |then )*(what|which|who|whose|when|where|why|how|did|do|does|is|are|was|were|has|have|am|may i|should)\b"
    r"|[?？]\s*$|什么|哪[个些里位年天种]|谁|多少|为什么|怎么|何时|是否|吗",
    re.I,
)
_SPLIT = re.compile(
    r"(?<=[。；;！!？?\n])\s*|(?<=\.)(?=\s|$)|[，,、]\s*|\s+(?:and then|then|and|afterwards|finally)\s+"
    r"|(?=然后|接着|随后|最后|并且|并把|并将|并(?=用|给|写|读|运|总|概)|再(?=读|把|将|用|运|写|看|打|跑))",
    re.I,
)


@dataclass(frozen=True)
class Step:
    """One thing to do. `clause` is the user's words for it, marks in place."""

    kind: str
    clause: str
    marks: tuple[Mark, ...] = ()
    number: int = 0
    name: str = ""
    arguments: str = ""
    traits: frozenset[str] = field(default_factory=frozenset)

    @property
    def paths(self) -> list[str]:
        """The files that the clause names, each once, in order."""
        return list(dict.fromkeys(mark.text for mark in self.marks if mark.is_path))

    @property
    def folders(self) -> list[str]:
        return [mark.text for mark in self.marks if mark.is_folder]

    @property
    def place(self) -> str:
        """The folder that the clause is about, marked or after `in`; empty when it names none."""
        if self.folders:
            return self.folders[-1].rstrip("/") or "."
        plain = r"\b(?:in|under|inside|of)\s+(?:the\s+)?(?:folder\s+)?([A-Za-z][\w/-]*)(?:\s+folder)?\s*(?:[,.?;]|$|and\b)"
        found = re.search(plain, self.clause) or re.search(
            r"([A-Za-z][\w/-]*)\s*(?:文件夹|目录)?\s*[里中下]", self.clause
        )
        return found[1] if found else ""

    @property
    def quoted(self) -> list[str]:
        """Marked words that name no file: a text to write, a pattern to search, a command."""
        return [mark.text for mark in self.marks if not mark.is_path]


def is_chinese(text: str) -> bool:
    """Whether to answer in Chinese: the words themselves (marks apart) hold Chinese characters."""
    return re.search(r"[\u4e00-\u9fff]", hide(text)[0]) is not None


def sentences_asked(text: str, default: int = 3) -> int:
    """How many sentences a text asks for.

    >>> sentences_asked("in two sentences"), sentences_asked("用四句话"), sentences_asked("shortly")
    (2, 4, 3)
    """
    found = re.search(rf"({_NUMBER})[ -]?(?:short |brief )?sentences?|({_NUMBER})\s*(?:个)?句", text, re.I)
    word = (found[1] or found[2]).lower() if found else ""
    return min(20, NUMBERS.get(word) or int(word)) if word else default


def parse(text: str) -> list[Step]:
    """The steps that a request asks for, in order. Text that asks for nothing known becomes one `ask` or `tell`.

    >>> [step.kind for step in parse("read `a.md` and give its main point in two sentences")]
    ['read', 'summarise']
    """
    uses, rest = explicit_uses(text)
    hidden, marks = hide(rest)
    steps = [step for clause in clauses(hidden) for step in steps_of(clause, marks)]
    steps = one_repair(steps, rest, tuple(marks))
    if not steps and not uses:
        kind = "ask" if QUESTION.search(rest.strip()) else "tell"
        steps = [Step(kind, text.strip(), tuple(marks))]
    return uses + steps


def one_repair(steps: list[Step], text: str, marks: tuple[Mark, ...]) -> list[Step]:
    """Finding the test, reading the modules, fixing and running the tests belong to one repair."""
    if not any(step.kind == "repair" for step in steps):
        return steps
    others = [step for step in steps if step.kind in ("write", "summarise")]
    taken = {mark for step in others for mark in step.marks}
    whole = Step("repair", text.strip(), tuple(mark for mark in marks if mark not in taken))
    return [whole, *others]


# --- clauses ----------------------------------------------------------------------------------------------


def clauses(hidden: str) -> list[str]:
    """A request cut at punctuation and joining words; a piece without a verb belongs to the piece before it."""
    found: list[str] = []
    between = 0
    for piece, end in _pieces(hidden):
        verbal = kinds_of(piece) or is_question(piece)
        open_before = bool(found) and not kinds_of(found[-1]) and not found[-1].rstrip().endswith(("?", "？"))
        if found and (not verbal or (open_before and not kinds_of(piece))):
            found[-1] += hidden[between : end - len(piece)] + piece
        elif open_before and not is_question(found[-1]):
            found[-1] += hidden[between : end - len(piece)] + piece
        else:
            found.append(piece)
        between = end
    return found


def _pieces(hidden: str) -> list[tuple[str, int]]:
    pieces, start = [], 0
    for gap in _SPLIT.finditer(hidden):
        pieces.append((hidden[start : gap.start()], gap.start()))
        start = gap.end()
    pieces.append((hidden[start:], len(hidden)))
    return [(piece, end) for piece, end in pieces if piece.strip(" .。,，")]


def is_question(clause: str) -> bool:
    return QUESTION.search(clause.strip()) is not None


def kinds_of(clause: str) -> list[str]:
    """The kinds of step that a clause asks for; a question about what was done asks for none of them."""
    if re.search(
        r"\b(did|have|has|had) (you|i|we)\b|你(已经)?(读|看|做|写|运行|说|改)(了|过)|我(说|问|要求)(了|过)?",
        clause,
        re.I,
    ):
        return []
    return [kind for kind, verb in VERBS.items() if re.search(verb, clause, re.I)]


def steps_of(clause: str, marks: list[Mark]) -> list[Step]:
    """The steps of one clause, in the order in which they have to be done."""
    shown, own = show(clause, marks).strip(" ,，.。"), tuple(marks_in(clause, marks))
    kinds = settle(set(kinds_of(clause)), clause)
    traits = traits_of(clause)
    steps = []
    for kind in (kind for kind in ORDER if kind in kinds):
        number = sentences_asked(clause) if kind == "summarise" else 0
        target = target_of(clause, marks) if "write" in kinds else ""
        words = own if kind == "write" else tuple(mark for mark in own if mark.text != target)
        step = Step(kind, shown, words, number, name=target if kind == "write" else "", traits=traits)
        steps += [step] if is_doable(step) else []
    return steps or ([Step("ask", shown, own)] if is_question(clause) else [])


ORDER = ("list", "run", "read", "search", "count", "summarise", "write", "repair")


def settle(kinds: set[str], clause: str) -> set[str]:
    """One verb may look like two; the more telling one stays."""
    if "repair" in kinds:
        return {"repair"}
    if "write" in kinds:
        kinds -= {"read", "search", "list", "count"}
    if kinds & {"search", "run"}:
        kinds -= {"list"}
    if kinds & {"search", "run", "count"} and not re.search(r"\bread\b|读", clause):
        kinds -= {"read"}
    if "list" in kinds and not re.search(r"\bread\b|读", clause):
        kinds -= {"read"}
    return kinds


def is_doable(step: Step) -> bool:
    """Whether a clause has what its verb needs: 'I like to read' names nothing to read."""
    if step.kind == "write":
        return bool(step.name)
    if step.kind == "read":
        pronoun = r"\b(it|them|this|that|these|those|files?|article|modules?|all)\b|它|文件|文章|这|那"
        return bool(step.marks) or re.search(pronoun, step.clause, re.I) is not None
    if step.kind == "search":
        return bool(step.marks) or bool(search_words(step.clause))
    if step.kind == "run":
        return bool(step.quoted) or bool(step.paths) or "tests" in step.traits
    if step.kind == "repair":
        return (
            re.search(
                r"\b(bug|tests?|errors?|issue|code|[A-Z]+-\d+)\b|错误|缺陷|测试|代码", step.clause, re.I
            )
            is not None
        )
    return True


def search_words(clause: str) -> str:
    """What to search for when it is not marked: the words after `for`."""
    found = re.search(
        r"\bfor (?:the (?:words?|texts?|phrase) )?(.+?)(?:\s+(?:in|inside|under)\b|$)", clause, re.I
    )
    return found[1].strip(" .?!") if found else ""


_INTO = r"(?:\b(?:to|into|in|as|file|called|named)|写入|写进|写到|写在|保存到|存到|存入|存进|追加到?|记录到|新建|创建|文件|到|进)"


def target_of(clause: str, marks: list[Mark]) -> str:
    """The file that a clause writes to: the one after `to` or `into`, else the last one named."""
    paths = [mark.text for mark in marks_in(clause, marks) if mark.is_path]
    after = re.findall(_INTO + r"\s*(?:the |a )?(?:new )?(?:file )?\ue000(\d+)\ue001", clause, re.I)
    named = [marks[int(place)].text for place in after if marks[int(place)].is_path]
    return (named or paths or [""])[-1]


def traits_of(clause: str) -> frozenset[str]:
    """What else a clause says about its verb."""
    rules = {
        "append": r"\b(append|add)\b|追加|附加|添加",
        "if-new": r"\bmake sure\b|\bif (you have|it has)?n[o']t\b|\bunless\b|确保|如果(还)?没",
        "endless": r"\bfor ?ever\b|\bagain and again\b|\bnever stop\b|\bwithout end\b|一直|不停|反复|永远",
        "tests": r"\btests?\b|测试",
        "all": r"\b(all|every|each)\b|所有|全部|每个|每一个",
        "contents": r"\bcontents?\b|\btexts?\b|内容|原文|文本",
        "summary": r"\bsummar(y|ies)\b|\b(main|key) points?\b|摘要|总结|要点|概括|归纳",
        "results": r"\bresults?\b|\bfindings?\b|\banswers?\b|结果|答案|发现",
    }
    return frozenset(name for name, rule in rules.items() if re.search(rule, clause, re.I))


# --- explicit tool use ------------------------------------------------------------------------------------

_USE = re.compile(
    r"(?:\b(?:use|call)(?: the)?(?: tool)?|使用|调用|用)(?:工具)?\s*`?([A-Za-z_]\w*)`?"
    r"(?:\s*(?:with|，?参数(?:为|是)?|:|：)?\s*(?:exactly )?(?=[{`]))?",
    re.I,
)


def explicit_uses(text: str) -> tuple[list[Step], str]:
    """The `use TOOL with {...}` parts of a request as steps, and the request without them.

    Arguments in backticks are sent as they stand, also when they are not JSON; so a learner can see what happens.
    """
    steps: list[Step] = []
    rest, start = "", 0
    for found in _USE.finditer(text):
        if found.start() < start:
            continue
        arguments, end = _arguments(text, found.end())
        if arguments is None:
            continue
        later = re.search(r"\bthen\b|然后|接着|再", text[start : found.start()]) is not None
        traits = frozenset({"later"} if later else ())
        steps.append(Step("use", text[found.start() : end], (), 0, found[1], arguments, traits))
        rest, start = rest + text[start : found.start()], end
    rest += text[start:]
    return steps, rest if re.search(
        r"\w{2}|[\u4e00-\u9fff]{2}", re.sub(r"\b(and|then|please)\b", "", rest)
    ) else ""


def _arguments(text: str, start: int) -> tuple[str | None, int]:
    """The arguments that stand at `start`: a JSON object, or anything in backticks. None when neither is there."""
    if text[start : start + 1] == "{":
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except ValueError:
            return None, start
        return json.dumps(value, ensure_ascii=False), end
    raw = re.compile(r"`([^`]*)`").match(text, start)
    return (raw[1], raw.end()) if raw else (None, start)
