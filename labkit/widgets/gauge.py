"""How full the history is: a bar with its figures in words, against what the policy looks at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from labkit.loop import Agent
from labkit.strip import escape, number
from labkit.tokens import TokenCounter
from labkit.understudy.models import MODELS

BAR = (
    "border:1px solid var(--jp-border-color1, #8a8a8a);border-radius:3px;height:12px;width:14em;"
    "max-width:100%;overflow:hidden;flex:none"
)
FILL = "height:100%;background:var(--jp-brand-color1, #0072b2)"
# Beyond the limit the bar is striped: the words beside it say so too.
STRIPES = (
    "height:100%;background:repeating-linear-gradient(45deg, var(--jp-error-color1, #b00020) 0 6px, "
    "var(--jp-layout-color1, #ffffff) 6px 10px)"
)


@dataclass(frozen=True)
class Gauge:
    """So many of at most so many: `value` of `limit`; `words` says it whole. No limit: nothing to fill."""

    value: int
    limit: int | None
    words: str

    def html(self) -> str:
        """The bar, for a screen and for a screen reader, and the words beside it."""
        words = f'<span style="flex:1 1 24em">{escape(self.words)}</span>'
        look = "display:flex;flex-flow:row wrap;gap:0 10px;align-items:center;line-height:1.4;margin:2px 0"
        if not self.limit:
            return f'<div style="{look}">{words}</div>'
        over = self.value > self.limit
        share = min(100.0, 100 * self.value / self.limit)
        values = (
            f'aria-valuemin="0" aria-valuemax="{self.limit}" aria-valuenow="{min(self.value, self.limit)}"'
        )
        name = f'aria-label="History against the limit" aria-valuetext="{escape(self.words)}"'
        fill = f'<div style="{STRIPES if over else FILL};width:{share:.1f}%"></div>'
        bar = f'<div role="meter" {values} {name} style="{BAR}">{fill}</div>'
        return f'<div style="{look}">{bar}{words}</div>'


def measure(agent: Agent, compactor: Any, limit: int | None, counter: TokenCounter) -> Gauge:
    """The gauge of an agent's history, by its policy's own measure.

    `compactor` is the one whose limit counts (None: it is looked for among the agent's hooks). `limit`
    (tokens) is used when there is none; without either, the understudy's window.
    """
    messages = list(agent.messages)
    exact = counter.history(messages, agent.tools.schemas)
    counted = f"{number(exact)} tokens counted, tools included"
    compactor = compactor or next(_measuring(agent), None)
    if compactor is not None and hasattr(compactor, "threshold"):
        most = compactor.threshold
        words = f"{len(messages)} of {number(most)} messages{_over(len(messages), most)}; {counted}"
        return Gauge(len(messages), most, words)
    if compactor is not None:
        value, most = compactor.measure(messages), compactor.limit
        words = f"≈{number(value)} of {number(most)} tokens by the policy's measure{_over(value, most)}"
        return Gauge(value, most, f"{words}; {counted}")
    most = limit or MODELS.get(agent.model)
    if most is None:
        return Gauge(exact, None, f"{len(messages)} messages, {counted}")
    what = "the limit" if limit else "the model's window"
    words = f"{number(exact)} of {number(most)} tokens, {what}{_over(exact, most)}; tools included"
    return Gauge(exact, most, words)


def _over(value: int, most: int) -> str:
    return " (over the limit)" if value > most else ""


def _measuring(agent: Agent) -> Iterator[Any]:
    """The hooks of an agent that have a limit and say how near the history is to it."""
    for hook in (agent.before_request, agent.after_input, agent.after_turn, agent.after_tools):
        if hasattr(hook, "measure") and (hasattr(hook, "limit") or hasattr(hook, "threshold")):
            yield hook
