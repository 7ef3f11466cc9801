"""Run a command in a folder, with a time limit, without keys, and with nothing left running afterwards.

`environment` (what a command may know), `output` (what is kept of what it prints) -> `processes` (start it,
end all of it) -> `runner`. On Linux a small `supervisor` process stands between: no descendant slips from it.

A command is a program of its own and **is not confined as the file tools are**: it runs in the folder, but it
can open any file that you can open, use the network, and look at your other processes (on Linux at their
environment, too). That is why the agent asks first when a real model is connected.
"""

from labkit.command.environment import command_environment
from labkit.command.runner import CommandResult, run

__all__ = ["CommandResult", "command_environment", "run"]
