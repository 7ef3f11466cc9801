"""The words that begin with `/`. Each is a small function: the chat, what was typed behind it, lines back."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from datetime import datetime

from labkit.chat.session import Chat
from labkit.errors import LabkitError
from labkit.policies import POLICIES
from labkit.strip import strip

Command = Callable[[Chat, str], str]


def run_command(chat: Chat, line: str) -> str:
    """Run the command in `line` (it begins with `/`) and return what to show."""
    word, _, rest = line[1:].partition(" ")
    command = COMMANDS.get(word.lower())
    if command is None:
        near = difflib.get_close_matches(word.lower(), COMMANDS, 1)
        meant = f" Did you mean /{near[0]}?" if near else ""
        return f"There is no command /{word}.{meant} /help lists them all."
    try:
        return command(chat, rest.strip())
    except LabkitError as error:
        return str(error)


def info(chat: Chat, rest: str) -> str:
    """messages and tokens, by role and against the limit"""
    trace = chat.agent.trace
    lines = [
        chat.status(),
        f"policy: {chat.policy.name}, {POLICIES[chat.policy.name]}",
        f"model: {chat.agent.model}",
    ]
    if trace.requests:
        lines.append(f"since the start: {trace.summary()}")
    lines.append(f"playground: {chat.root}")
    return "\n".join(lines)


def compact(chat: Chat, rest: str) -> str:
    """[focus]  compact now; focus is what the summary must keep above all"""
    result = chat.compact(focus=rest)
    if result is None:
        return "The policy is off. Choose one first, for example /policy safe-cut."
    return "" if result.changed or result.failed else f"[compaction: nothing changed. {result.reason}]"


def show_strip(chat: Chat, rest: str) -> str:
    """the history as a strip of blocks"""
    limit = chat.limit if chat.policy.name != "count" else None
    return str(strip(chat.agent.messages, limit=limit, cuts=True))


def policy(chat: Chat, rest: str) -> str:
    """count|safe-cut|two-tier|off [limit]  how to compact from now on"""
    name, _, limit = rest.partition(" ")
    if not name:
        return "\n".join(
            f"{'*' if key == chat.policy.name else ' '} {key}: {text}" for key, text in POLICIES.items()
        )
    if limit and not (limit.strip().isdigit() and int(limit) > 0):
        return f"{limit!r} is no limit. Give a number, for example /policy {name} 6000."
    chat.set_policy(name, int(limit) if limit else None)
    return chat.status()


def save(chat: Chat, rest: str) -> str:
    """[name]  keep the history under a name"""
    name = rest or datetime.now().strftime("chat-%Y%m%d-%H%M%S")
    return f"Saved: {chat.store.save(chat.agent.messages, name)}"


def load(chat: Chat, rest: str) -> str:
    """[name]  go on from a saved history; the one going on is saved first"""
    if not rest:
        return f"Saved chats: {', '.join(chat.store.names()) or 'none yet'}."
    loaded = chat.store.load(rest)
    kept = save(chat, "") if len(chat.agent.messages) > 1 else ""
    chat.agent.messages[:] = loaded
    chat.store.save_current(loaded)
    return "\n".join(filter(None, [kept, f"Loaded {rest}: {chat.status()}"]))


def new(chat: Chat, rest: str) -> str:
    """start afresh; the history going on is saved first"""
    kept = save(chat, "") if len(chat.agent.messages) > 1 else ""
    chat.start_afresh()
    return "\n".join(filter(None, [kept, chat.status()]))


def tools(chat: Chat, rest: str) -> str:
    """what the agent can do"""
    return "\n".join(f"{tool.name}: {tool.description.splitlines()[0]}" for tool in chat.agent.tools)


def help_(chat: Chat, rest: str) -> str:
    """this list"""
    lines = [f"/{name:<9}{command.__doc__}" for name, command in COMMANDS.items()]
    return "\n".join(
        [*lines, f"/{'quit':<9}end the chat; it goes on next time", "Anything else is for the agent."]
    )


COMMANDS: dict[str, Command] = {
    "info": info,
    "compact": compact,
    "strip": show_strip,
    "policy": policy,
    "save": save,
    "load": load,
    "new": new,
    "tools": tools,
    "help": help_,
}
