"""The understudy: rules that stand in for a model, behind the real wire protocol. It is not a language model.

It plays a coding agent well enough to learn on, without a key or a network, and says the same thing every
time. It knows only what is in the request: what compaction has removed, it has forgotten.

Read in this order.
What does the user ask for: `marks`, `spelling`, `verbs`, `step`, `explicit`, `requests`.
What does the request still show: `hands`, `memory`, `view`, `work`, `reader`.
What is done next: `reading`, `summarising`, `writing`, `running`, `repair`, `fixes`, `answers`, `recall`,
`own_tools`, `compressor`, `planner`.
The wire: `refusals`, `settings`, `usage`, `faults`, `draft`, `wire`, `service`, `server`.
"""

from labkit.understudy.models import DEFAULT_MODEL, MODELS, WHAT_IT_IS

__all__ = ["DEFAULT_MODEL", "MODELS", "WHAT_IT_IS"]
