"""A chat: an agent, its policy, and a history that outlives Ctrl-C and restarts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from labkit.chat.store import ChatStore
from labkit.compaction import Compaction, model_summariser
from labkit.loop import Agent, Event
from labkit.messages import calls_of
from labkit.playground import playground_folder, playground_tools
from labkit.policies import Policy, make_policy
from labkit.tokens import TokenCounter
from labkit.understudy.models import is_understudy

if TYPE_CHECKING:
    from openai import OpenAI

SYSTEM = (
    "You are a coding agent. Your tools work in one folder, the playground. "
    "Look before you answer, change only what was asked, and say briefly what you did."
)
WIDTH = 88


class Chat:
    """An agent with a policy. `say` shows a line, `write` a piece of streamed text without a line break.

    The history is saved after every turn, whole or not at all, and taken up again by the next chat with the
    same `store`.
    """

    def __init__(
        self,
        client: OpenAI,
        model: str,
        *,
        policy: str = "safe-cut",
        limit: int | None = None,
        root: Path | None = None,
        store: ChatStore | None = None,
        ask: Callable[[str], bool] | None = None,
        say: Callable[[str], None] = print,
        write: Callable[[str], None] = lambda piece: print(piece, end="", flush=True),
    ) -> None:
        self.root = root or playground_folder()
        self.store = store or ChatStore.of_workspace()
        self.say, self._write = say, write
        tools = playground_tools(self.root, ask)
        self.agent = Agent(client, model, tools=tools, system=SYSTEM, stream=True, on_event=self._show)
        self._summarise = model_summariser(client, model)
        self._counter = TokenCounter()
        self._streaming = False
        self.policy: Policy
        self.set_policy(policy, limit)
        kept = self.store.current()
        if kept:
            self.agent.messages[:] = kept

    # --- what happens ---------------------------------------------------------------------------------------

    def set_policy(self, name: str, limit: int | None = None) -> None:
        """Compact by this policy from now on. Raises SetupError for an unknown name."""
        self.policy = make_policy(name, limit, self.root / ".memory", self._summarise)
        hooks = self.policy.hooks
        self.agent.before_request = hooks.get("before_request")
        self.agent.after_tools = hooks.get("after_tools")
        self.agent.after_input = hooks.get("after_input")
        self.agent.after_turn = hooks.get("after_turn")

    def turn(self, text: str) -> None:
        """One turn of the agent, shown as it happens; the history is saved, however the turn ends."""
        try:
            self.agent.run(text)
        finally:
            self._end_line()
            self.store.save_current(self.agent.messages)
        self.say(self.status())

    def compact(self, focus: str = "") -> Compaction | None:
        """Compact at once; `focus` is what the summary must keep above all. None under the policy "off"."""
        compactor = self.policy.compactor
        if compactor is None:
            return None
        result = self.agent.compact(lambda messages: compactor.now(messages, focus))
        self.store.save_current(self.agent.messages)
        return result

    def start_afresh(self) -> None:
        """Forget the history; what it was is kept beside, under a name that is returned by the store."""
        del self.agent.messages[1:]
        self.store.save_current(self.agent.messages)

    # --- what is shown --------------------------------------------------------------------------------------

    def status(self) -> str:
        """One line: messages and tokens, against the policy's limit."""
        messages, compactor = self.agent.messages, self.policy.compactor
        exact = self._counter.history(messages, self.agent.tools.schemas)
        counted = f"{exact:,} tokens counted, tools included"
        many = "1 message" if len(messages) == 1 else f"{len(messages)} messages"
        if compactor is None:
            return f"[{self.policy.name}: {many}, {counted}]"
        if self.policy.name == "count":
            return f"[{self.policy.name}: {len(messages)} of {self.limit} messages; {counted}]"
        against = f"≈{compactor.measure(messages):,} of {self.limit:,} tokens"
        return f"[{self.policy.name}: {many}, {against}; {counted}]"

    @property
    def limit(self) -> int | None:
        """The policy's limit: messages for "count", else tokens; None for "off"."""
        compactor = self.policy.compactor
        return getattr(compactor, "threshold", None) or getattr(compactor, "limit", None)

    def _show(self, event: Event) -> None:
        if event.kind == "text":
            self._streaming = True
            self._write(event.text)
        elif event.kind == "broken":
            self._end_line()
        elif event.kind == "reply" and event.message:
            if event.text and not self._streaming:  # a refusal is not streamed as text
                self.say(event.text)
            self._end_line()
            for call in calls_of(event.message):
                self.say(f"  > {call['function']['name']}({_short(call['function']['arguments'])})")
        elif event.kind == "tool_result":
            self.say(f"  < {_short(event.text)}")
        elif event.kind == "compaction" and event.compaction:
            self._end_line()
            self.say(in_words(event.compaction))

    def _end_line(self) -> None:
        if self._streaming:
            self._write("\n")
            self._streaming = False


def in_words(compaction: Compaction) -> str:
    """A compaction in a line, its reason with both figures; the snapshot on a second one."""
    if not compaction.changed:
        return f"[compaction: nothing changed. {compaction.reason}]"
    snapshot = f"\n  the whole history is in {compaction.snapshot}" if compaction.snapshot else ""
    return f"[compaction: {compaction.reason}]{snapshot}"


def model_in_words(model: str) -> str:
    """A model's name; with the understudy's, what it is."""
    return f"{model}, a set of rules that stands in for a model" if is_understudy(model) else model


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else f"{line[:WIDTH]}... ({len(text):,} characters)"
