"""From the chunks of a streamed reply to one message.

A streamed reply arrives in shreds: text in pieces, and tool calls as fragments (id and name first, then the
arguments piece by piece, several calls woven together). `merge_delta` puts one shred where it belongs, and
`collect` does so for a whole stream. Pieces are kept in lists and joined once at the end: adding to a string
would copy it each time, and half of a call's arguments is of no use to anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from labkit.chunks import UsualForm, as_dict, raise_error_of, words_of
from labkit.errors import ModelError, StreamInterrupted
from labkit.errors_model import OFFLINE
from labkit.fragments import find_call, finished_call, joined
from labkit.messages import Message, text_of

CUT_SHORT = (
    "length",
    "content_filter",
    "max_tokens",
    "model_length",
    "insufficient_system_resource",
    "abort",
)
"""Finish reasons of a reply that stopped before its end, in small letters; the first two are OpenAI's, the
others mean the same elsewhere (https://docs.mistral.ai/api, https://docs.vllm.ai,
https://api-docs.deepseek.com/api/create-chat-completion).
"""


@dataclass(frozen=True)
class Reply:
    """One whole reply of a model.

    `message` is an assistant message, ready to be appended to a history. `finish_reason` is the provider's
    word (`stop`, `tool_calls`, `length`, ...) or None when the stream broke off. `usage` is the provider's
    token count as a dict, or None when it sent none.
    """

    message: Message
    finish_reason: str | None
    usage: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The text of the reply, or of a refusal; empty when there is none."""
        return text_of(self.message.get("content")) or text_of(self.message.get("refusal"))

    @property
    def tool_calls(self) -> list[Message]:
        """The tool calls of the reply; an empty list when there are none."""
        return self.message.get("tool_calls") or []

    @property
    def calls_may_run(self) -> bool:
        """Whether there are calls and the reply ended properly. A reply that was cut short is never run."""
        return bool(self.tool_calls and self.finish_reason) and not cut_short(self.finish_reason)


# --- one shred --------------------------------------------------------------------------------------------


def growing_message() -> dict[str, Any]:
    """A message before its first delta: lists of pieces, to be joined when the stream has ended."""
    return {"content": [], "refusal": [], "calls": []}


def merge_delta(growing: dict[str, Any], delta: dict[str, Any]) -> None:
    """Put one delta of a stream into the growing message.

    Text goes to the end of the list `growing["content"]`, a refusal to that of
    `growing["refusal"]`.

    A fragment of a tool call goes to its call in `growing["calls"]`: a dict with `index`, `id`,
    `name` and `arguments` (a list of pieces). The first fragment of a call makes that dict. Id and
    name are set once, whatever later fragments repeat. Arguments are only collected, never read.

    >>> growing = growing_message()
    >>> for text in ("Hel", None, "lo"):
    ...     merge_delta(growing, {"content": text})
    >>> "".join(growing["content"])
    'Hello'
    """
    growing["content"].append(text_of(delta.get("content")))
    growing["refusal"].append(text_of(delta.get("refusal")))
    fragments = delta.get("tool_calls") or []
    for place, fragment in enumerate(fragments):
        call = find_call(growing["calls"], fragment, place, len(fragments))
        function = fragment.get("function") or {}
        call["id"] = call["id"] or fragment.get("id")
        call["name"] = call["name"] or function.get("name")
        call["arguments"].append(function.get("arguments") or "")


def finished_message(growing: dict[str, Any]) -> Message:
    """The growing message as an assistant message: pieces joined, null content only with calls."""
    text, refusal = joined(growing["content"]), "".join(growing["refusal"])
    message: Message = {"role": "assistant", "content": text or None}
    taken: set[str] = set()
    calls = [finished_call(call, place, taken) for place, call in enumerate(growing["calls"])]
    if calls:
        message["tool_calls"] = calls
    if refusal:
        message["refusal"] = refusal
    if not calls and not refusal:
        message["content"] = text
    return message


# --- the whole stream -------------------------------------------------------------------------------------


def collect(chunks: Iterable[Any], on_text: Callable[[str], None] | None = None) -> Reply:
    """Read a stream to its end and return the whole reply.

    `chunks` are SDK objects or dicts; `plain_chunks(chunks)` gives each as a dict. `on_text` is
    called with each piece of text as it comes, for the person at the screen. A reply cut off by
    `length` comes back with that finish reason, so that its `calls_may_run` is False.

    Raises StreamInterrupted (its `.partial` is a Reply with what came so far) when the stream ends
    without a finish reason, carries an error, or breaks.
    """
    growing, finish_reason, usage = growing_message(), None, None
    try:
        for chunk in plain_chunks(chunks):
            usage = chunk.get("usage") or usage
            for choice in chunk.get("choices") or []:
                delta = choice.get("delta") or {}
                merge_delta(growing, delta)
                finish_reason = settled(finish_reason, choice.get("finish_reason"))
                if on_text and text_of(delta.get("content")):
                    on_text(text_of(delta["content"]))
    except ConnectionError as error:
        raise interrupted(growing, usage, f"The stream broke off: {error}.") from error
    if finish_reason is None:
        raise interrupted(growing, usage, "The stream ended without a finish reason.")
    return Reply(finished_message(growing), finish_reason, usage)


def plain_chunks(chunks: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Each chunk of a stream as a plain dict, with the first choice alone and odd fields in their usual form.

    Raises ConnectionError when the stream breaks, or when the service reports an error inside it.

    >>> list(plain_chunks([{"choices": [], "usage": {"total_tokens": 3}}]))
    [{'choices': [], 'usage': {'total_tokens': 3}}]
    """
    source, usual_form = iter(chunks), UsualForm()
    while True:
        try:
            chunk = next(source)
        except StopIteration:
            return
        except Exception as error:  # each client has errors of its own for a broken line
            raise ConnectionError(words_of(error)) from error
        if chunk is None:
            continue
        plain = as_dict(chunk)
        yield usual_form(plain)
        raise_error_of(plain)


def settled(before: str | None, now: str | None) -> str | None:
    """The finish reason so far. Some services send two: the first counts, but a cut always does.

    >>> settled("stop", None), settled("stop", "length"), settled(None, "tool_calls"), settled(None, "")
    ('stop', 'length', 'tool_calls', None)
    """
    return now if cut_short(now) else before or now or None


def cut_short(finish_reason: str | None) -> bool:
    """Whether a finish reason says that the reply stopped before its end.

    >>> cut_short("length"), cut_short("MAX_TOKENS"), cut_short("tool_calls"), cut_short(None)
    (True, True, False, False)
    """
    return str(finish_reason).lower() in CUT_SHORT


def interrupted(growing: dict[str, Any], usage: dict[str, Any] | None, what: str) -> StreamInterrupted:
    """The error for a stream that broke off, with what came so far as its `.partial` reply."""
    partial = Reply(finished_message(growing), None, usage)
    return StreamInterrupted(what, "Nothing of it was run or saved; ask again.", partial=partial)


def whole_reply(completion: Any) -> Reply:
    """The reply of a request that was not streamed: its message is one delta that came whole.

    Raises ModelError when the answer holds no reply (some services answer 200 with an error inside, some
    addresses with a web page).
    """
    try:
        answer = UsualForm()(as_dict(completion))
        raise_error_of(answer)
    except TypeError as error:
        what = "The service's answer is no chat completion."
        raise ModelError(what, f"Check OPENAI_BASE_URL: it often ends in /v1. {OFFLINE}") from error
    except ConnectionError as error:
        raise _no_reply(str(error)) from error
    if not answer["choices"]:
        raise _no_reply("it is empty")
    choice, growing = answer["choices"][0], growing_message()
    merge_delta(growing, choice["delta"])
    return Reply(finished_message(growing), choice.get("finish_reason"), answer.get("usage"))


def _no_reply(why: str) -> ModelError:
    return ModelError(f"The service's answer holds no reply: {why}.", "Ask again; nothing was run or saved.")
