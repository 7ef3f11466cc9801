"""The chat's terminal: lines in, events out; and `--task`, which needs no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

import click

from labkit.chat.commands import COMMANDS, run_command
from labkit.chat.session import Chat, model_in_words
from labkit.connect import connect
from labkit.errors import LabkitError
from labkit.places import workspace
from labkit.understudy.models import is_understudy

PROMPT = "you> "


def open_chat(policy: str, limit: int | None) -> Chat:
    """A chat on the connected model. A real model's commands are shown first and run only after a yes."""
    client, model = connect()
    ask = None if is_understudy(model) else _may_run
    return Chat(client, model, policy=policy, limit=limit, ask=ask, say=click.echo, write=_write)


def run_tasks(chat: Chat, tasks: Sequence[str]) -> int:
    """Run tasks one after the other; the exit status."""
    for number, task in enumerate(tasks, 1):
        click.echo(f"task {number}: {task}")
        try:
            chat.turn(task)
        except LabkitError as error:
            click.echo(str(error), err=True)
            return 1
    return 0


def talk(chat: Chat) -> int:
    """Read lines until /quit or the end of the input; the exit status."""
    click.echo(_greeting(chat))
    for line in _lines():
        if line in ("/quit", "/exit", "/q"):
            break
        if line.startswith("/"):
            _say_if(run_command(chat, line))
        elif line:
            _turn(chat, line)
    click.echo("Your history is kept: `labkit chat` goes on from here.")
    return 0


def _turn(chat: Chat, text: str) -> None:
    try:
        chat.turn(text)
    except KeyboardInterrupt:
        click.echo("[interrupted: nothing more is run, and the history says so]")
    except LabkitError as error:
        click.echo(str(error))


def _greeting(chat: Chat) -> str:
    model = chat.agent.model
    kept = len(chat.agent.messages) - 1
    goes_on = f"Going on with {kept} messages; /new starts afresh.\n" if kept > 0 else ""
    return f"You talk to {model_in_words(model)}. /help lists the commands.\n{goes_on}{chat.status()}"


def _lines() -> Iterator[str]:
    """What is typed, line by line: with editing and history in a terminal, plainly from a pipe."""
    read = _terminal_reader() if sys.stdin.isatty() else _pipe_reader
    while True:
        try:
            yield read().strip()
        except KeyboardInterrupt:
            click.echo("(/quit or Ctrl-D ends the chat)")
        except EOFError:  # Ctrl-D: the way to end it
            return


def _pipe_reader() -> str:
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    click.echo(PROMPT + line.rstrip("\n"))
    return line


def _terminal_reader() -> Callable[[], str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import FileHistory

    words = WordCompleter([f"/{name}" for name in (*COMMANDS, "quit")], sentence=True)
    typed = FileHistory(str(workspace() / ".labkit" / "chat-input"))
    session: PromptSession[str] = PromptSession(history=typed, completer=words, complete_while_typing=False)
    return lambda: session.prompt(PROMPT)


def _may_run(command: str) -> bool:
    click.echo(f"  the model wants to run: {command}")
    return click.confirm("  run it?", default=False)


def _write(piece: str) -> None:
    click.echo(piece, nl=False)
    sys.stdout.flush()


def _say_if(text: str) -> None:
    if text:
        click.echo(text)
