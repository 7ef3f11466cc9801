"""What an explorer is set to: a policy and its knobs, as values; and how far each knob turns.

Pure, and nothing of Jupyter in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log10

from labkit.compaction import CountCompactor, SafeCutCompactor, ToolStubs, two_tiers
from labkit.compaction.rehearsal import RehearsedFull
from labkit.errors import SetupError
from labkit.policies import POLICIES, Hooks

KNOBS = {
    "off": ("limit",),
    "count": ("threshold", "keep", "limit"),
    "safe-cut": ("limit", "keep"),
    "two-tier": ("limit", "keep", "batch"),
}
"""The knobs of each policy. Without a policy, and by count, the limit is a line to look at, no more."""

SHORT = {
    "off": "no compaction",
    "count": "by number of messages (lab 3)",
    "safe-cut": "by tokens (lab 4)",
    "two-tier": "stubs, then all at once (lab 5)",
}
"""Each policy in a few words."""

MEANINGS = {
    ("off", "limit"): "only a line: nothing is compacted",
    ("count", "threshold"): "messages; more than that are compacted",
    ("count", "keep"): "newest messages that stay",
    ("count", "limit"): "only a line: this policy does not look at tokens",
    ("safe-cut", "limit"): "tokens; above that, compaction before the request",
    ("safe-cut", "keep"): "newest messages that stay",
    ("two-tier", "limit"): "tokens; above that, all at once (tier 2)",
    ("two-tier", "keep"): "newest long tool results that stay (tier 1)",
    ("two-tier", "batch"): "tokens to save with each batch of stubs",
}


@dataclass(frozen=True)
class Settings:
    """A policy with all knobs set. The defaults of the knobs are those of lab 4's source."""

    policy: str = "safe-cut"
    threshold: int = CountCompactor.threshold
    keep: int = SafeCutCompactor.keep_recent
    limit: int = SafeCutCompactor.limit
    batch: int = ToolStubs.batch_tokens

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise SetupError(
                f"There is no policy {self.policy!r}.", f"The policies are: {', '.join(POLICIES)}."
            )

    @property
    def essential(self) -> Settings:
        """The same with all that this policy does not look at at its default: what a replay depends on."""
        used = [name for name in KNOBS[self.policy] if name != "limit" or self.uses_limit]
        return Settings(self.policy, **{name: getattr(self, name) for name in used})

    @property
    def uses_limit(self) -> bool:
        """Whether the policy itself looks at the limit."""
        return self.policy in ("safe-cut", "two-tier")

    @property
    def hooks(self) -> Hooks:
        """The hooks for `replay`; a rehearsal, so nothing is written to disk."""
        if self.policy == "count":
            return {"after_turn": CountCompactor(self.threshold, self.keep)}
        if self.policy == "safe-cut":
            return {"before_request": SafeCutCompactor(self.limit, self.keep)}
        if self.policy == "two-tier":
            tiers = two_tiers(ToolStubs(self.keep, batch_tokens=self.batch), RehearsedFull(self.limit))
            return {"after_input": tiers["after_input"], "after_tools": tiers["after_tools"]}
        return {}

    def __str__(self) -> str:
        knobs = (f"{name} {getattr(self, name):,}" for name in KNOBS[self.policy])
        return f"{self.policy} ({', '.join(knobs)})"


DEFAULTS = {
    "off": Settings("off"),
    "count": Settings("count", keep=CountCompactor.keep_last),
    "safe-cut": Settings("safe-cut"),
    "two-tier": Settings("two-tier", keep=ToolStubs.keep_recent, limit=RehearsedFull.limit),
}
"""Each policy as its source has it."""


@dataclass(frozen=True)
class Range:
    """How far a knob turns, and in what steps; all in its own unit."""

    low: int
    high: int
    step: int

    def holding(self, value: int) -> Range:
        """The same, and wide enough for this value."""
        return replace(self, low=min(self.low, value), high=max(self.high, value))


def ranges(largest: int) -> dict[str, Range]:
    """How far the knobs turn for a session whose largest request, uncompacted, has `largest` tokens.

    >>> ranges(128_000)["limit"]
    Range(low=5000, high=130000, step=500)
    """
    step = max(10, round_number(largest / 250))
    top = max(20 * step, -(-largest // (5 * step)) * 5 * step)
    return {
        "threshold": Range(10, 100, 1),
        "keep": Range(0, 12, 1),
        "limit": Range(10 * step, top, step),
        "batch": Range(0, 8000, 250),
    }


def round_number(value: float) -> int:
    """The nearest of 1, 2, 5, 10, 20, 50 ... from below.

    >>> round_number(512), round_number(26)
    (500, 20)
    """
    size = 10 ** int(log10(max(1.0, value)))
    return max(size * by for by in (1, 2, 5) if size * by <= max(1.0, value))
