"""The published figures of the three source systems, by an agent on the playground with the understudy."""

import pytest

from labkit.compaction import (
    CountCompactor,
    FullCompactor,
    SafeCutCompactor,
    ToolStubs,
    model_summariser,
    read_snapshot,
    two_tiers,
)
from labkit.connect import connect
from labkit.loop import Agent
from labkit.messages import problems, system_length
from labkit.playground import fresh_playground, playground_tools
from labkit.tokens import estimate_tokens

ROLE = "You are a careful coding agent."
READ_AND_SUMMARISE = "Read big-article.md and summarise it in 3 sentences."
WRITE_A_REVIEW = "Read hello.txt and notes.md and write a review of the article to review.txt."


def run(tasks, **hooks):
    """Run these tasks in a fresh playground: the agent, its compactions, and the histories before them."""
    root = fresh_playground("figures")
    compactions, before = [], []

    def watch(event):
        if (
            event.kind == "compaction"
            and event.compaction.snapshot is None
            and "stub" in event.compaction.reason
        ):
            return
        if event.kind == "compaction":
            compactions.append(event.compaction)

    hooks = {name: hook(root) if name == "tiers" else hook for name, hook in hooks.items()}
    hooks |= hooks.pop("tiers", {})
    agent = Agent(*connect(), tools=playground_tools(root), system=ROLE, on_event=watch, **hooks)
    for task in tasks:
        before.append(list(agent.messages))
        agent.run(task)
    return agent, compactions, root


@pytest.mark.parametrize("by", ["rules", "understudy"])
def test_a_twenty_one_messages_become_nine(by):
    summarise = {} if by == "rules" else {"summarise": model_summariser(*connect())}
    agent, compactions, _ = run(
        ["Read hello.txt", "Read notes.md", "Read shop/ISSUES.md", "List the files", "Read hello.txt again"],
        after_turn=CountCompactor(**summarise),
    )
    assert [compaction.changed for compaction in compactions] == [True]
    assert compactions[0].reason.startswith("21 messages became 9")
    assert len(agent.messages) == 9
    for path in "hello.txt", "notes.md", "shop/ISSUES.md":
        assert path in agent.messages[1]["content"]


@pytest.mark.parametrize("by", ["rules", "understudy"])
def test_b_about_seven_thousand_estimated_tokens_become_about_two_hundred(by):
    summarise = {} if by == "rules" else {"summarise": model_summariser(*connect())}
    compactor = SafeCutCompactor(keep_user_words=False, **summarise)
    agent, compactions, root = run([READ_AND_SUMMARISE, WRITE_A_REVIEW], before_request=compactor)
    assert len(compactions) == 1
    result = compactions[0]
    kept = result.messages[system_length(result.messages) + 1 :]
    folded_before = result.tokens_before - estimate_tokens([result.messages[0], *kept])
    folded_after = estimate_tokens(result.messages[1:2])
    assert 6900 < folded_before < 7300
    assert 50 < folded_after < 250
    # The state of the task is kept: the path, what was asked, and the answer in the newest messages.
    assert "big-article.md" in result.messages[1]["content"]
    assert "3 sentences" in result.messages[1]["content"]
    assert (root / "review.txt").is_file()
    reads = [message for message in agent.messages if "big-article.md" in str(message.get("tool_calls"))]
    assert reads == []


def test_c_dozens_become_three_with_the_snapshots_path_in_the_second():
    tasks = [f"Read shop/{name}" for name in ("ISSUES.md", "prices.py", "basket.py", "cart.py")]
    tasks += [READ_AND_SUMMARISE, "Read notes.md", "List the files", "Read hello.txt", "Read hello.txt"]

    def tiers(root):
        return two_tiers(ToolStubs(), FullCompactor(limit=30000, folder=root / ".memory", root=root))

    agent, compactions, root = run(tasks, tiers=tiers)
    assert compactions == []
    history = list(agent.messages)
    assert len(history) >= 24
    result = FullCompactor(folder=root / ".memory", root=root).now(history)
    assert [message["role"] for message in result.messages] == ["system", "user", "assistant"]
    assert f"Memory: .memory/{result.snapshot.name}]" in result.messages[1]["content"]
    assert read_snapshot(result.snapshot) == history
    agent.messages[:] = result.messages
    answer = agent.run(f"Read .memory/{result.snapshot.name}")
    assert "ISSUES.md" in answer or any("ISSUES.md" in str(m["content"]) for m in agent.messages[-2:])
    assert problems(agent.messages) == []
