"""Whether a summariser's answer may stand in for messages: rule 4, validate before anything changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from labkit.messages import text_of

FINISHED = "stop"
SHORT = 400
"""Characters: a longer text that begins like a refusal is a summary that quotes one."""
REFUSALS = (
    *("i'm sorry", "i am sorry", "i'm really sorry", "i'm so sorry", "i'm very sorry", "sorry"),
    *("apologies", "my apologies", "i apologize", "i apologise", "i regret", "i respectfully"),
    *("i can't", "i cannot", "i can not", "i won't", "i will not", "i'm unable", "i am unable"),
    *("i'm not able", "i am not able", "i must decline", "i have to decline", "unfortunately, i"),
    *("i'm not comfortable", "i don't feel comfortable", "as an ai", "as a language model"),
    *("抱歉", "对不起", "很抱歉", "我很抱歉", "非常抱歉", "不好意思"),
    *("我无法", "我不能", "我没办法", "无法总结"),
    *("作为ai", "作为一个ai", "作为人工智能", "作为一个人工智能"),
)
"""How a refusal begins, in small letters, in English and Chinese."""
THINKING = re.compile(r"<(analysis|think|thinking|scratchpad)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
WRAPPER = re.compile(r"\A\s*<summary>(.*?)(</summary>\s*)?\Z", re.DOTALL | re.IGNORECASE)


def summary_text(reply: Any) -> str:
    """The summary inside a reply: without `<analysis>` and the like, without a `<summary>` around it.

    >>> from labkit.streaming import Reply
    >>> summary_text(Reply({"role": "assistant", "content": "<analysis>hm</analysis> Done."}, "stop"))
    'Done.'
    """
    message = getattr(reply, "message", None)
    text = text_of(message.get("content")) if isinstance(message, dict) else ""
    text = THINKING.sub("", text)
    wrapped = WRAPPER.match(text)
    return (wrapped.group(1) if wrapped else text).strip()


def useful(reply: Any, replaced_tokens: int, count: Callable[[str], int]) -> str:
    """Why a summariser's reply may not be used; an empty text when it may.

    It must have finished (`finish_reason` is "stop", nothing else: None does not say that the text is whole),
    hold text besides its `<analysis>`, call no tool, be no refusal, and be smaller than the `replaced_tokens`
    of what it stands for, as `count` measures a text.

    >>> from labkit.streaming import Reply
    >>> useful(Reply({"role": "assistant", "content": "Goal: port"}, "length"), 900, len)
    "the summary was cut off (finish reason 'length')"
    """
    message = getattr(reply, "message", None)
    if not isinstance(message, dict):
        return f"the summariser gave back a {type(reply).__name__} and not a Reply with an assistant message"
    finish = getattr(reply, "finish_reason", None)
    text = summary_text(reply)
    if message.get("tool_calls") or message.get("function_call") or finish == "tool_calls":
        return "the summariser called a tool instead of writing a summary"
    if message.get("refusal") or finish == "content_filter" or is_refusal(text):
        return f"the summariser refused: {str(message.get('refusal') or text)[:120]!r}"
    if finish != FINISHED:
        return f"the summary was cut off (finish reason {finish!r})"
    if not any(map(str.isalnum, text)):
        return "the summary is empty"
    tokens = count(text)
    if tokens >= replaced_tokens:
        return f"the summary is no smaller than what it replaces ({tokens} tokens for {replaced_tokens})"
    return ""


def is_refusal(text: str) -> bool:
    """Whether a short text begins as refusals do.

    >>> is_refusal("I’m sorry, but I can't help with that."), is_refusal("Goal: say sorry")
    (True, False)
    """
    opening = text.replace("’", "'").lstrip("*_#> \n").lower()
    return len(text) <= SHORT and opening.startswith(REFUSALS)
