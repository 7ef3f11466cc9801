"""A request body becomes an answer: check it, count it, plan it, cut it to size. No network in here."""

from __future__ import annotations

import functools
import json
import threading
from dataclasses import replace
from typing import Any

from labkit.tokens import TokenCounter
from labkit.understudy.draft import Call, Draft, call, draft_tokens, fit, stop_at, tool_names, with_ids
from labkit.understudy.faults import Fault
from labkit.understudy.models import MODELS
from labkit.understudy.planner import plan
from labkit.understudy.refusals import NOT_JSON, Refusal, check_body, check_size
from labkit.understudy.settings import check_settings
from labkit.understudy.usage import PrefixLedger, usage_object
from labkit.understudy.wire import Answer, completion_id


def read_body(raw: bytes) -> dict[str, Any]:
    """The request body as an object. Raises the Refusal for a body that is not JSON."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, NOT_JSON) from error
    if not isinstance(body, dict):
        raise Refusal(400, NOT_JSON)
    return body


class Service:
    """Answers request bodies. It keeps no conversation, only what a prompt cache would keep."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @functools.cached_property
    def _counter(self) -> TokenCounter:
        # Its own: the shared one belongs to the notebook's thread. Made late: it reads a large file.
        return TokenCounter()

    @functools.cached_property
    def _ledger(self) -> PrefixLedger:
        return PrefixLedger(self._counter)

    def forget(self) -> None:
        """Empty the prefix cache."""
        with self._lock:
            self._ledger = PrefixLedger(self._counter)

    def answer(self, body: dict[str, Any], key: str = "", fault: Fault | None = None) -> Answer:
        """The answer to one request. Raises Refusal where the real service would answer with an error."""
        check_body(body)
        check_settings(body)
        model, messages, tools = body["model"], body["messages"], body.get("tools")
        most = _most_tokens(body)
        with self._lock:
            chain = self._ledger.chain(f"{key}\n{model}", messages, tools)
            prompt = self._ledger.measure(chain)
            check_size(model, prompt.in_messages, prompt.in_tools, most)
            self._ledger.remember(chain)
            room = MODELS[model] - prompt.total
            draft = stop_at(spoil(plan(body), body, fault), body.get("stop"))
            draft = fit(draft, room if most is None else most, self._counter.text)
            spent = draft_tokens(draft, self._counter.text)
        calls = with_ids(draft.calls, messages)
        choices = body.get("n") or 1
        usage = usage_object(prompt, spent * choices)
        return Answer(draft, calls, usage, model, completion_id(body), choices)


def _most_tokens(body: dict[str, Any]) -> int | None:
    """`max_completion_tokens`, or the older `max_tokens`."""
    most: int | None = body.get("max_completion_tokens")
    return body.get("max_tokens") if most is None else most


def spoil(draft: Draft, body: dict[str, Any], fault: Fault | None) -> Draft:
    """The draft as a fault leaves it; most faults are of the transport and leave it as it is."""
    kind = fault.kind if fault else ""
    if kind == "empty":
        return Draft()
    if kind == "refusal":
        return Draft(refusal="I'm sorry, but I can't help with that.")
    if kind == "bad-arguments" and draft.calls:
        return replace(
            draft, calls=tuple(replace(each, arguments=each.arguments[:-2]) for each in draft.calls)
        )
    if kind == "endless" and tool_names(body):
        return replace(draft, calls=(endless_call(body),))
    return draft


def endless_call(body: dict[str, Any]) -> Call:
    """One more call of the first tool, or of list_files where it is offered."""
    names = tool_names(body)
    return call("list_files", path=".") if "list_files" in names else call(names[0])
