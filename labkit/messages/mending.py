"""`normalise`: a history that a provider accepts, as close to the kept one as can be.

The agent sends `normalise(history)`; the kept history itself is not rewritten behind the user's back.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterator, Sequence
from typing import Any

from labkit.messages.pairing import pair
from labkit.messages.rules import is_json_object, may_lack_content, part_is_sound
from labkit.messages.shape import ROLES, Message, calls_of, function_of, text_of

INTERRUPTED = (
    "[interrupted: this call was not completed and has no result. Call the tool again if you need it.]"
)
"""The result that `normalise` gives a call without one. Always the same bytes, so that prefix caches hold."""

INVALID_JSON = "invalid_json"
"""The key under which arguments that are not a JSON object are kept."""


def normalise(messages: Sequence[Message]) -> list[Message]:
    """A history that a provider accepts, as close to this one as can be. Always a new list.

    A call without a result gets one that says it was interrupted; a result without a call goes; a result
    that stands away from its call moves next to it. Nulls and malformed fields become the nearest sound
    thing, and the SDK's message and call objects dicts. The same input gives the same bytes, a sound
    history comes back equal, and the input is untouched.

    >>> from labkit.messages import assistant, tool_call, user
    >>> history = [user("go"), assistant(calls=[tool_call("a", "f", "{}")]), user("stop")]
    >>> [message["role"] for message in normalise(history)]
    ['user', 'assistant', 'tool', 'user']
    """
    readable = [message for message in map(_plain, messages) if isinstance(message, dict)]
    pairing = pair(readable)
    sent: list[Message] = []
    for index, message in enumerate(readable):
        if message.get("role") == "tool":
            continue  # sent with its call, below
        sound = sound_message(message)
        sent.append(sound)
        if index in pairing.results:
            ids = [call["id"] for call in sound["tool_calls"]]
            sent += _results_in_order(readable, list(zip(pairing.results[index], ids, strict=True)))
    return sent


def _plain(value: Any) -> Any:
    """A message, or what is in it, as JSON has it; the very same object when it is that already.

    The SDK's objects, such as `completion.choices[0].message` or the calls in it, become dicts, tuples lists.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        plain = {key: _plain(held) for key, held in value.items()}
        return value if all(plain[key] is held for key, held in value.items()) else plain
    if isinstance(value, list | tuple):
        items = [_plain(held) for held in value]
        unchanged = isinstance(value, list) and all(map(operator.is_, items, value))
        return value if unchanged else items
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else value


def _results_in_order(
    messages: Sequence[Message], answers: list[tuple[int | None, str]]
) -> Iterator[Message]:
    """The results as they arrived, then one for each call (by its id) that has none."""
    for index, call_id in sorted((found, call_id) for found, call_id in answers if found is not None):
        yield _changed(sound_message(messages[index]), tool_call_id=call_id)
    for found, call_id in answers:
        if found is None:
            yield {"role": "tool", "tool_call_id": call_id, "content": INTERRUPTED}


def sound_message(message: Message) -> Message:
    """The message with what a provider would reject in it mended; the very same object when nothing is."""
    sound = message
    if message.get("role") not in ROLES:
        sound = _changed(sound, role="user")
    calls = calls_of(sound)
    if "tool_calls" in sound and not calls:
        sound = {key: value for key, value in sound.items() if key != "tool_calls"}
    if calls:
        sound = _changed(sound, tool_calls=_sound_calls(sound["tool_calls"]))
    if not (sound.get("content") is None and may_lack_content(sound)):
        sound = _changed(sound, content=_sound_content(sound.get("content")))
    return sound


def _sound_content(content: Any) -> Any:
    if isinstance(content, str):
        return content
    if isinstance(content, list) and content:
        parts = [part if part_is_sound(part) else _text_part(part) for part in content]
        return content if parts == content else parts
    return "" if content is None or content == [] else _as_text(content)


def _text_part(part: Any) -> dict[str, str]:
    return {"type": "text", "text": text_of([part]) or _as_text(part)}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _sound_calls(calls: list[Any]) -> list[Message]:
    sound: list[Message] = []
    taken: set[str] = set()
    for position, call in enumerate(call for call in calls if isinstance(call, dict)):
        call_id = _free_id(call.get("id"), position, taken)
        taken.add(call_id)
        sound.append(_sound_call(call, call_id))
    return calls if sound == calls else sound


def _free_id(call_id: Any, position: int, taken: set[str]) -> str:
    name = call_id if isinstance(call_id, str) and call_id else f"call_{position}"
    while name in taken:
        name += f"_{position}"
    return name


def _sound_call(call: Message, call_id: str) -> Message:
    function = function_of(call)
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str) or not name:
        name = "unknown_tool"
    if not is_json_object(arguments):
        arguments = _sound_arguments(arguments)
    if function.get("name") == name and function.get("arguments") == arguments:
        return _changed(call, id=call_id, type="function")
    function = {**function, "name": name, "arguments": arguments}
    return {**call, "id": call_id, "type": "function", "function": function}


def _sound_arguments(arguments: Any) -> str:
    """A JSON object as text. What the model wrote is kept inside, so that it can see what went wrong."""
    text = _as_text(arguments)
    if arguments is None or not text.strip():
        return "{}"
    return text if is_json_object(text) else json.dumps({INVALID_JSON: text}, ensure_ascii=False)


def as_written(call: Message) -> Message:
    """A mended call as the model wrote it, so that whoever runs it can say what was wrong with it.

    >>> from labkit.messages import tool_call
    >>> as_written(tool_call("a", "f", {"invalid_json": "{oops"}))["function"]["arguments"]
    '{oops'
    """
    arguments = json.loads(call["function"]["arguments"])
    if list(arguments) != [INVALID_JSON]:
        return call
    return {**call, "function": {**call["function"], "arguments": arguments[INVALID_JSON]}}


def _changed(message: Message, **values: Any) -> Message:
    """The message with these values; the very same object when it has them already."""
    if all(key in message and message[key] is value for key, value in values.items()):
        return message
    return {**message, **values}
