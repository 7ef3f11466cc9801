"""The command `labkit`. Each command is thin: it reads its options, calls a module, prints what came."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from labkit.errors import LabkitError, SetupError


class _Failed(click.ClickException):
    """A labkit error as a person should meet it: what happened, what to do; no traceback."""

    def show(self, file: Any = None) -> None:
        click.echo(self.message, file=file or sys.stderr, err=file is None)


def _failed(error: LabkitError) -> _Failed:
    return _Failed("\n".join(filter(None, [error.what, error.fix, error.more])))


class _Group(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LabkitError as error:
            raise _failed(error) from error
        except BrokenPipeError:
            raise  # whoever reads the output has seen enough: click ends quietly
        except OSError as error:
            what = f"The system does not allow that ({error})."
            raise _failed(SetupError(what, "`labkit doctor` looks for what is in the way.")) from error


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="agent-loop-labs", prog_name="labkit")
def cli() -> None:
    """Agent Loop Labs: build the inside of a coding agent.

    Start with `labkit lab`. If something does not work, ask `labkit doctor`.
    """


@cli.command()
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[FOLDER] [-- JUPYTERLAB OPTIONS]")
@click.option("--lab", "name", default="1", show_default=True, help="The lab to open: its number or name.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="The port to use; otherwise the first free one from 8888."
)
def lab(arguments: tuple[str, ...], name: str, no_browser: bool, port: int | None) -> None:
    """Open the labs in JupyterLab, in your own copy.

    The copy is made in FOLDER (my_labs, if you name none). What is in it already is never touched.
    """
    from labkit.lab import lab_command, lab_environment, run_lab
    from labkit.workspace import copy_labs, find_lab

    named = arguments[0] if arguments and not arguments[0].startswith("-") else None
    if named is not None:
        os.environ["LABKIT_WORKSPACE"] = str(Path(named).expanduser().absolute())
    report = copy_labs()
    notebook = report.folder / find_lab(name).name
    click.echo(f"Your labs: {report.folder}" + (f" ({len(report.added)} added)" if report.added else ""))
    for newer in report.newer:
        click.echo(f"{newer} has changed since you got your copy, which stays as it is. ", nl=False)
        click.echo(f"To get the new one: labkit reset {newer[:2]} (yours is kept as a backup).")
    click.echo("Press Ctrl-C here to stop.")
    command = lab_command(
        notebook, browser=not no_browser, port=port, extra=arguments[0 if named is None else 1 :]
    )
    raise SystemExit(run_lab(command, lab_environment(report.folder)))


@cli.command()
@click.argument("labs", nargs=-1, metavar="[LAB|NOTEBOOK]...")
@click.option("--student", "form", flag_value="student", help="Only with the exercises not started.")
@click.option("--solutions", "form", flag_value="solution", help="Only with labkit's own solutions.")
def run(labs: tuple[str, ...], form: str | None) -> None:
    """Run labs from top to bottom, without a browser.

    All shipped labs, in both forms, if you name none. A notebook of your own is run as it is; neither it nor
    your progress changes. The exit status is 0 when everything is as it should be.
    """
    from labkit.lab_run import run_labs

    raise SystemExit(run_labs(labs, form or "both"))


@cli.command()
@click.argument("recording", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--policy", "names", multiple=True, help="off, count, safe-cut or two-tier; all, if you name none."
)
@click.option("--limit", type=click.IntRange(1), help="In place of the policies' own limits, in tokens.")
@click.option("--requests", is_flag=True, help="Also show every request.")
@click.option("--chart", type=click.Path(path_type=Path), help="Save the chart (.svg, .png or .pdf).")
def replay(
    recording: Path, names: tuple[str, ...], limit: int | None, requests: bool, chart: Path | None
) -> None:
    """What a recorded history would have cost under each policy.

    RECORDING is a snapshot: a file with one message a line. No model is asked.
    """
    from labkit.replay_command import replay_policies

    traces, picture = replay_policies(recording, names, limit)
    for name, trace in traces.items() if requests else ():
        click.echo(f"{name}\n{trace}\n")
    click.echo(str(picture))
    if chart:
        from labkit.charts import save

        try:
            click.echo(f"Saved: {save(picture, chart)}")
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--chart") from error


@cli.command()
@click.option("--task", "tasks", multiple=True, help="Run this task and end; may be given more than once.")
@click.option("--policy", default="safe-cut", show_default=True, help="count, safe-cut, two-tier or off.")
@click.option("--limit", type=click.IntRange(1), help="In place of the policy's own: messages or tokens.")
@click.option("--new", is_flag=True, help="Start afresh; the history going on is saved first.")
def chat(tasks: tuple[str, ...], policy: str, limit: int | None, new: bool) -> None:
    """Talk to the agent in the terminal, and watch compaction as it happens.

    Your history is kept from one chat to the next.
    """
    from labkit.chat.commands import run_command
    from labkit.chat.terminal import open_chat, run_tasks, talk

    opened = open_chat(policy, limit)
    if new:
        click.echo(run_command(opened, "/new"))
    raise SystemExit(run_tasks(opened, tasks) if tasks else talk(opened))


@cli.command()
def figures() -> None:
    """Make the figures of the three source systems anew, with the understudy."""
    from labkit.figures import figures as make_figures

    for figure in make_figures():
        click.echo(str(figure))


@cli.command()
@click.argument("folder", default="site", type=click.Path(file_okay=False, path_type=Path))
@click.option("--pictures", is_flag=True, help="Instead: make the pictures of a clone's README anew.")
def render(folder: Path, pictures: bool) -> None:
    """Make pages to read of all labs, with solutions and outputs.

    They need no network and no server: open index.html in FOLDER (site, if you name none).
    """
    if pictures:
        from labkit.site.pictures import write_pictures

        for path in write_pictures():
            click.echo(f"Made: {path}")
        return
    from labkit.site import render_site

    written = render_site(folder)
    click.echo(f"{len(written)} pages. Start with {written[0]}")


@cli.command()
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0: any free one."
)
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="KIND[:TIMES]",
    help="Let the next requests meet a fault, such as 429, 500, slow or cut. May be given more than once.",
)
def serve(port: int, faults: tuple[str, ...]) -> None:
    """Let any OpenAI client on this computer talk to the understudy."""
    from labkit.understudy.faults import FaultSwitch
    from labkit.understudy.server import serve as serve_understudy

    switch = FaultSwitch()
    for fault in faults:
        kind, _, times = fault.partition(":")
        if times and not (times.isdecimal() and int(times)):
            raise click.BadParameter(
                f"{times!r} is no number of times; write for example {kind}:2", param_hint="--fault"
            )
        try:
            switch.add(kind, times=int(times or 1))
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--fault") from error
    try:
        serve_understudy(port, click.echo, switch)
    except KeyboardInterrupt:
        click.echo("\nStopped.")
    except OSError as error:
        raise SetupError(
            f"Port {port} cannot be used: {error.strerror}.", "Take any free one: labkit serve --port 0"
        ) from error


@cli.command()
def doctor() -> None:
    """Check this computer's set-up, and name the one fix for whatever is wrong."""
    from labkit.doctor import examine

    wrong = 0
    for finding in examine():
        click.echo(finding)
        wrong += not finding.ok
    click.echo("Everything is in order." if not wrong else f"To fix: {wrong}. Start with the first one.")
    raise SystemExit(1 if wrong else 0)


@cli.command()
@click.argument("target", metavar="LAB|EXERCISE")
def reset(target: str) -> None:
    """Put a lab (03) or an exercise (3.1) back to its start. Your copy is backed up first."""
    from labkit.checks.progress import forget
    from labkit.workspace import reset as reset_copy

    report = reset_copy(target)
    note = forget(list(report.exercises))
    click.echo(f"{report.what[0].upper()}{report.what[1:]} is back at its start in {report.file}.")
    if report.backup:
        click.echo(f"Backup: {report.backup}")
    click.echo("If it is open in JupyterLab: File > Reload Notebook from Disk.")
    if note:
        click.echo(note)


@cli.command()
def progress() -> None:
    """Show what is passed, what is next, and how many minutes are left."""
    from labkit.checks import progress_board

    click.echo(str(progress_board()))


def main() -> None:
    """The command line's way in. Text that a terminal cannot show becomes `?`, never an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    cli(prog_name="labkit")


if __name__ == "__main__":
    main()
