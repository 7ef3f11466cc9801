"""Which tools a request offers, by what they do, and how their arguments are called.

The rules speak of reading or writing; the request may offer `read_file(path)` or a learner's own
`cat(filename)`.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labkit.understudy.draft import Call, tool_names

SKILLS: dict[str, tuple[str, ...]] = {
    "read": ("read_file", "read", "open_file", "view_file", "get_file", "cat", "show_file"),
    "list": ("list_files", "list_dir", "list_directory", "ls", "list"),
    "write": ("write_file", "write", "save_file", "create_file"),
    "edit": ("edit_file", "replace_in_file", "str_replace", "edit"),
    "search": ("search_text", "search", "grep", "search_files", "find_text"),
    "run": ("run_command", "run", "bash", "shell", "execute", "run_shell"),
}
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "path": ("path", "file", "filename", "file_name", "file_path", "filepath", "folder", "directory", "name"),
    "content": ("content", "contents", "text", "data"),
    "old": ("old", "old_text", "old_str", "find", "search"),
    "new": ("new", "new_text", "new_str", "replace", "replacement"),
    "pattern": ("pattern", "query", "text", "regex"),
    "command": ("command", "cmd", "commands", "code"),
    "start_line": ("start_line", "start", "offset", "from_line"),
}


def skill_of(name: str) -> str:
    """What a tool of this name does; empty for a tool that only its owner knows."""
    return next((skill for skill, names in SKILLS.items() if name in names), "")


@dataclass(frozen=True)
class Hands:
    """The tools of one request."""

    schemas: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Hands:
        usable = tool_names(body)
        functions = [
            tool["function"] for tool in body.get("tools") or [] if tool["function"]["name"] in usable
        ]
        return cls({function["name"]: function for function in functions})

    def can(self, skill: str) -> bool:
        return bool(self.tool_for(skill))

    def tool_for(self, skill: str) -> str:
        """The name of the offered tool with this skill; empty when none is offered."""
        return next((name for name in SKILLS[skill] if name in self.schemas), "")

    def call(self, skill: str, **values: Any) -> Call:
        """A call of the tool with this skill; each value goes under the name that the tool has for it."""
        name = self.tool_for(skill)
        known = self.properties(name)
        arguments = {
            next((each for each in ARGUMENTS.get(key, (key,)) if each in known), key): value
            for key, value in values.items()
        }
        return Call(name, json.dumps(arguments, ensure_ascii=False))

    def properties(self, name: str) -> Mapping[str, Any]:
        parameters = self.schemas.get(name, {}).get("parameters")
        properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
        return properties if isinstance(properties, Mapping) else {}

    def required(self, name: str) -> list[str]:
        parameters = self.schemas.get(name, {}).get("parameters")
        required = parameters.get("required") if isinstance(parameters, Mapping) else None
        return [str(each) for each in required] if isinstance(required, list) else []


def argument(arguments: Mapping[str, Any], key: str) -> str:
    """The value of an argument under any of its usual names; empty when it is not there or no text."""
    for name in ARGUMENTS.get(key, (key,)):
        if isinstance(arguments.get(name), str):
            return str(arguments[name])
    return ""


def tidy(path: str) -> str:
    """A path in one form, so that `./notes.md` and `notes.md` are the same file.

    >>> tidy("./shop//till.py"), tidy("shop/"), tidy("")
    ('shop/till.py', 'shop', '.')
    """
    return posixpath.normpath(path.strip().replace("\\", "/") or ".").lstrip("/") or "."
