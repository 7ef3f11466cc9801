"""The compaction explorer: choose a session and a policy, turn the knobs, and see what each request sends.

Nothing here asks a model: a recorded session is replayed under the policy, at each move of a knob.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import ipywidgets as widgets

from labkit.messages import Message
from labkit.sessions import RECORDED, recorded
from labkit.widgets.controls import button, dropdown, set_range, slider
from labkit.widgets.opened import closed, opened
from labkit.widgets.outcome import Outcome, Session
from labkit.widgets.parts import close_tree, html, mended, row
from labkit.widgets.settings import DEFAULTS, KNOBS, MEANINGS, SHORT, Settings, ranges
from labkit.widgets.view import View

OWN = "yours"
ALL_KNOBS = ("threshold", "keep", "limit", "batch")


class Explorer:
    """A session under a policy, to touch. Show it as the last line of a cell.

    `session` is the name of a recorded session ("small", "medium", "large") or a history of your own;
    `policy` is a name in `labkit.policies.POLICIES`; `threshold`, `keep`, `limit` and `batch` are the
    policy's knobs to begin with, and `request` the number of the request whose strip is shown. `name` is the
    explorer's name in this kernel: opening it again closes the earlier one. Raises SetupError for an unknown
    name.

    >>> from labkit.widgets import explorer
    >>> print(str(explorer("small", limit=3000)).splitlines()[0])
    Session small, policy safe-cut (limit 3,000, keep 2)
    """

    def __init__(
        self,
        session: str | Sequence[Message] = "medium",
        policy: str = "safe-cut",
        *,
        threshold: int | None = None,
        keep: int | None = None,
        limit: int | None = None,
        batch: int | None = None,
        request: int | None = None,
        name: str = "",
    ) -> None:
        chosen = session if isinstance(session, str) else OWN
        self._sessions: dict[str, Session] = {}
        if not isinstance(session, str):
            self._sessions[OWN] = Session(OWN, session)
        asked: dict[str, Any] = {"threshold": threshold, "keep": keep, "limit": limit, "batch": batch}
        knobs = {name: value for name, value in asked.items() if value is not None}
        _check(knobs)
        begin = replace(DEFAULTS[Settings(policy).policy], **knobs)
        self._knobs = {**DEFAULTS, policy: begin}  # each policy keeps its own
        self._session = self._load(chosen)
        self._build(chosen, policy)
        self._settling = False
        with self._settle():
            self._fit(knobs)
        self.request.value = request or self._telling_request()
        self.follow()
        self._observe()
        opened("explorer", name or f"{chosen} {policy}", self)

    # --- what is chosen -------------------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """The policy and the knobs as they are set."""
        knobs = {name: knob.value for name, knob in self.knobs.items() if name in KNOBS[self.policy.value]}
        return replace(self._knobs[self.policy.value], **knobs)

    @property
    def outcome(self) -> Outcome:
        """What comes of the session under the settings: the replay, and its totals."""
        return self._session.outcome(self.settings)

    @property
    def view(self) -> View:
        """What is shown now."""
        return View(self._session.name, self.settings, self.outcome, self._session.plain, self.request.value)

    def _load(self, name: str) -> Session:
        if name not in self._sessions:
            self._sessions[name] = Session(name, recorded(name))
        return self._sessions[name]

    def _telling_request(self) -> int:
        """The first request with a compaction before it; without any, the last."""
        return next(iter(self.outcome.compactions), max(1, len(self.outcome.requests)))

    # --- what is shown --------------------------------------------------------------------------------------

    def _build(self, session: str, policy: str) -> None:
        own = (
            [(f"{OWN}: {len(self._sessions[OWN].history):,} messages", OWN)] if OWN in self._sessions else []
        )
        sessions = [(f"{name}: {count:,} messages", name) for name, count in RECORDED.items()]
        self.session = dropdown("session", [*own, *sessions], session)
        policies = [(f"{name}: {words}", name) for name, words in SHORT.items()]
        self.policy = dropdown("policy", policies, policy, "26em")
        self.knobs = {name: slider(name) for name in ALL_KNOBS}
        self._meanings = {name: html(f"labkit-explorer-{name}-meaning") for name in ALL_KNOBS}
        self._rows = {name: row(self.knobs[name], self._meanings[name]) for name in ALL_KNOBS}
        self.request = slider("request")
        self.previous = button("previous compaction", "left")
        self.next = button("next compaction", "right")
        self.totals = html("labkit-explorer-totals")
        self.growth = html("labkit-explorer-growth")
        self.strip = html("labkit-explorer-strip")
        self.widget = widgets.VBox(
            [
                row(self.session, self.policy),
                *self._rows.values(),
                self.totals,
                self.growth,
                row(self.request, self.previous, self.next),
                self.strip,
                mended("labkit-explorer"),
            ]
        )
        self.widget.add_class("labkit-explorer")

    def follow(self) -> None:
        """Draw everything for what is chosen now."""
        view = self.view
        self.totals.value = view.totals_html()
        self._draw_request(view)

    def _draw_request(self, view: View) -> None:
        self.growth.value = view.growth_html()
        self.strip.value = view.strip_html()
        struck = view.outcome.compactions
        self.previous.disabled = not struck or view.request <= struck[0]
        self.next.disabled = not struck or view.request >= struck[-1]

    # --- what moves -----------------------------------------------------------------------------------------

    def _observe(self) -> None:
        self.session.observe(self._session_chosen, "value")
        self.policy.observe(self._policy_chosen, "value")
        for knob in self.knobs.values():
            knob.observe(self._knob_turned, "value")
        self.request.observe(self._request_chosen, "value")
        self.previous.on_click(lambda _: self._jump(-1))
        self.next.on_click(lambda _: self._jump(+1))

    @contextmanager
    def _settle(self) -> Iterator[None]:
        """While several controls are set together, nothing is drawn."""
        self._settling = True
        try:
            yield
        finally:
            self._settling = False

    def _session_chosen(self, change: Any) -> None:
        self._session.forget()
        self._session = self._load(change["new"])
        with self._settle():
            self._fit()
            self.request.value = self._telling_request()
        self.follow()

    def _policy_chosen(self, change: Any) -> None:
        with self._settle():
            self._fit()
        self.follow()

    def _knob_turned(self, change: Any) -> None:
        if not self._settling:
            self._knobs[self.policy.value] = self.settings
            self.follow()

    def _request_chosen(self, change: Any) -> None:
        if not self._settling:
            self._draw_request(self.view)

    def _jump(self, way: int) -> None:
        """To the next compaction, or to the one before."""
        ahead = [place for place in self.outcome.compactions if (place - self.request.value) * way > 0]
        if ahead:
            self.request.value = min(ahead) if way > 0 else max(ahead)

    def _fit(self, given: Collection[str] = ()) -> None:
        """Show the knobs of the policy, as far as they turn for this session, where they were left.

        Those `given` by the caller turn at least as far as their value.
        """
        policy, spread = self.policy.value, ranges(self._session.plain.trace.peak)
        wanted = self._knobs[policy]
        for name, knob in self.knobs.items():
            used = name in KNOBS[policy]
            self._rows[name].layout.display = "flex" if used else "none"
            knob.disabled = not used
            value = getattr(wanted, name)
            turn = spread[name].holding(value) if name in given else spread[name]
            set_range(knob, turn.low, turn.high, turn.step, min(max(value, turn.low), turn.high))
            self._meanings[name].value = f"<span>{MEANINGS.get((policy, name), '')}</span>"
        requests = max(1, len(self._session.plain.requests))
        set_range(self.request, 1, requests, 1, min(self.request.value, requests))

    # --- showing and closing --------------------------------------------------------------------------------

    def close(self) -> None:
        """Close all widgets of this explorer, and let go of the replays."""
        closed(self)
        close_tree(self.widget)
        self._sessions.clear()
        self._session.forget()

    def __str__(self) -> str:
        return self.view.text()

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The widget, and beside it the same as a picture and as text, for pages that have no widgets."""
        bundle = dict(self.widget._repr_mimebundle_() or {})
        return bundle | {"text/html": self.view.html(), "text/plain": self.view.text()}


def explorer(
    session: str | Sequence[Message] = "medium", policy: str = "safe-cut", **settings: Any
) -> Explorer:
    """The compaction explorer; the settings are those of `Explorer`."""
    return Explorer(session, policy, **settings)


def _check(knobs: dict[str, int]) -> None:
    for name, value in knobs.items():
        if value < 0:
            raise ValueError(f"{name} is {value}: it cannot be negative")
