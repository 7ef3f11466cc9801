"""What services send in a stream, chunk by chunk, as plain dicts of one form.

The protocol leaves less open than services take. The odd forms of its fields are made the usual ones here, so
that whoever merges a delta reads one form only.
"""

from __future__ import annotations

import codecs
from typing import Any

from labkit.messages import text_of

Chunk = dict[str, Any]


def as_dict(chunk: Any) -> Chunk:
    """A chunk as plain dicts and lists, with the fields that were sent. Raises TypeError for what is none."""
    if isinstance(chunk, dict):
        return chunk
    plain = _plain(chunk)
    if isinstance(plain, dict):
        return plain
    raise TypeError(f"a chunk is a dict or an SDK object, not {type(chunk).__name__}")


def _plain(value: Any) -> Any:
    """An SDK object, or one that merely has its attributes, as a dict; lists of them as lists."""
    if hasattr(value, "model_dump"):
        return dict(value.model_dump(exclude_unset=True, warnings=False))
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    fields = value if isinstance(value, dict) else getattr(value, "__dict__", None)
    return value if fields is None else {key: _plain(item) for key, item in fields.items()}


class UsualForm:
    """Puts the chunks of one stream, in their order, into the usual form.

    >>> usual = UsualForm()
    >>> usual({"choices": [{"index": 0, "delta": {"function_call": {"name": "f"}}}]})["choices"][0]["delta"]
    {'tool_calls': [{'index': 0, 'function': {'name': 'f'}}]}
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-16-le")("replace")

    def __call__(self, chunk: Chunk) -> Chunk:
        """The chunk with its first choice alone; others come only when asked for.

        Its usage is a dict or null; Moonshot sends it in the choice.
        """
        sent = [choice for choice in _listed(chunk.get("choices")) if not choice.get("index")]
        plain = {**chunk, "choices": [self._choice(choice) for choice in sent]}
        found = [part["usage"] for part in (chunk, *sent) if isinstance(part.get("usage"), dict)]
        if found or "usage" in plain:
            plain["usage"] = found[0] if found else None
        return plain

    def _choice(self, choice: Chunk) -> Chunk:
        """The choice with its delta in the usual form. A message that came whole is one delta."""
        delta = choice.get("delta", choice.get("message"))
        if not isinstance(delta, dict):
            return {**choice, "delta": {}}
        usual = dict(delta)
        if delta.get("content"):
            usual["content"] = self._text(delta["content"])
        calls = delta.get("tool_calls")
        if calls:
            usual["tool_calls"] = [_fragment(fragment) for fragment in _listed(calls)]
        elif isinstance(usual.pop("function_call", None), dict):  # as it was before there were tool calls
            usual["tool_calls"] = [{"index": 0, "function": delta["function_call"]}]
        return {**choice, "delta": usual}

    def _text(self, content: Any) -> str:
        """The text without the thinking. Half a character waits for its other half in a later chunk."""
        if isinstance(content, list):
            content = [part for part in content if not _is_thinking(part)]
        return self._decoder.decode(text_of(content).encode("utf-16-le", "surrogatepass"))


def _listed(value: Any) -> list[Chunk]:
    """The dicts of a list, or a dict that came without its list."""
    values = value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, dict)]


def _fragment(fragment: Chunk) -> Chunk:
    sound = isinstance(fragment.get("function"), dict | None)
    return fragment if sound else {**fragment, "function": None}


def _is_thinking(part: Any) -> bool:
    return isinstance(part, dict) and str(part.get("type")).startswith(("thinking", "reasoning"))


def raise_error_of(chunk: Chunk) -> None:
    """Some services report an error inside a stream that began well, in the chunk or in its choice.

    Raises ConnectionError with the service's words.
    """
    for part in (chunk, *_listed(chunk.get("choices"))):
        error = part.get("error")
        if part.get("object") == "error":  # vLLM
            error = part
        if error or part.get("finish_reason") == "error":
            raise ConnectionError(words_of(error or "an error, and no word about it"))


def words_of(error: Any) -> str:
    """What a service said about an error, without the full stop that our own sentence brings.

    `error` is the text, an object with a `message`, or an exception of a client that holds one of these.
    """
    if isinstance(error, Exception):
        error = getattr(error, "body", None) or str(error) or type(error).__name__
    text = error.get("message") or error if isinstance(error, dict) else error
    return str(text).strip().rstrip(".")
