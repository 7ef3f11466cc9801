"""The source systems' policies by name, as hooks for `Agent` and for `replay`.

>>> sorted(policy_hooks("count"))
['after_turn']
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from labkit.compaction import (
    Compactor,
    CountCompactor,
    FullCompactor,
    SafeCutCompactor,
    Summariser,
    ToolStubs,
    extractive_summary,
    two_tiers,
)
from labkit.errors import SetupError

POLICIES = {
    "off": "no compaction",
    "count": "by number of messages, after each turn (lab 3)",
    "safe-cut": "by tokens, before each request (lab 4)",
    "two-tier": "stubs for old tool results, and all at once when that is not enough (lab 5)",
}
"""Every policy's name, and what it does."""


class Hooks(TypedDict, total=False):
    """The hooks that `Agent` and `replay` take, those that a policy uses."""

    before_request: Compactor
    after_tools: Compactor
    after_input: Compactor
    after_turn: Compactor


@dataclass(frozen=True)
class Policy:
    """A policy at work: its hooks, and the compactor behind them (None for "off").

    The compactor's `measure(messages)` gives its own token figures, and its `now(messages, focus)` compacts
    at once.
    """

    name: str
    hooks: Hooks
    compactor: CountCompactor | SafeCutCompactor | FullCompactor | None


def make_policy(
    name: str,
    limit: int | None = None,
    folder: str | Path = ".memory",
    summarise: Summariser = extractive_summary,
) -> Policy:
    """The policy of this name.

    `limit` replaces the policy's own: messages for "count", else tokens. `folder` takes the snapshots of
    "two-tier". Raises SetupError for a name that is not in POLICIES.
    """
    if name == "off":
        return Policy(name, {}, None)
    if name == "count":
        count = CountCompactor(CountCompactor.threshold if limit is None else limit, summarise=summarise)
        return Policy(name, {"after_turn": count}, count)
    if name == "safe-cut":
        safe_cut = SafeCutCompactor(SafeCutCompactor.limit if limit is None else limit, summarise=summarise)
        return Policy(name, {"before_request": safe_cut}, safe_cut)
    if name == "two-tier":
        full = FullCompactor(
            FullCompactor.limit if limit is None else limit, folder=folder, summarise=summarise
        )
        tiers = two_tiers(ToolStubs(), full)
        return Policy(name, {"after_input": tiers["after_input"], "after_tools": tiers["after_tools"]}, full)
    raise SetupError(f"There is no policy {name!r}.", f"The policies are: {', '.join(POLICIES)}.")


def policy_hooks(
    name: str,
    limit: int | None = None,
    folder: str | Path = ".memory",
    summarise: Summariser = extractive_summary,
) -> Hooks:
    """The hooks of a policy (see `make_policy`): `Agent(..., **policy_hooks("safe-cut"))`."""
    return make_policy(name, limit, folder, summarise).hooks
