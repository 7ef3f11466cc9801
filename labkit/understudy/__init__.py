"""The understudy: rules that stand in for a model, behind the real wire protocol. It is not a language model.

It plays a coding agent well enough to learn on, without a key or a network, and says the same thing every
time. It knows only what is in the request: what compaction has removed, it has forgotten.

Read in this order: `requests` (what does the user ask for), `view` (what does the request still show), `planner`
(the next step), `reader` (finding and shortening text); then the wire: `refusals`, `usage`, `wire`, `faults`,
`server`.
"""

from labkit.understudy.models import DEFAULT_MODEL, MODELS, WHAT_IT_IS

__all__ = ["DEFAULT_MODEL", "MODELS", "WHAT_IT_IS"]
