"""Exercises cut from labkit's own functions: one source, two forms.

The student's cell has the signature and the docstring, and a line that raises; the solution form has the
function's real source. Nothing is written twice, so labs and library cannot drift apart.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import json
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType, ModuleType

from labkit.errors import NotebookError

_STUB_WIDTH = 70  # characters of a stub's words: its line must fit into a cell
Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Part:
    """One function of an exercise, with its source."""

    module: ModuleType
    name: str
    source: str

    @cached_property
    def definition(self) -> Definition:
        """The function's syntax tree; line numbers count within `source`."""
        node = ast.parse(self.source).body[0]
        assert isinstance(node, Definition)  # `load` has made sure of it
        return node

    @property
    def task(self) -> str:
        """The first line of its docstring."""
        return (ast.get_docstring(self.definition) or "").split("\n")[0]

    def body_lines(self) -> int:
        """How many lines of code a learner types: the body without docstring, comments and blank lines."""
        first = self.definition.body[0].end_lineno or 0
        lines = (line.strip() for line in self.source.splitlines()[first:])
        return sum(1 for line in lines if line and not line.startswith("#"))

    def head(self) -> str:
        """The source up to the end of the docstring."""
        return "\n".join(self.source.splitlines()[: self.definition.body[0].end_lineno])


def load(function: str) -> list[Part]:
    """The functions that "package.module:name" or "package.module:name,other" names.

    Raises NotebookError when there is no such function, or it has no docstring (which is the task).
    """
    module_name, _, names = function.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise NotebookError(
            f"There is no module {module_name!r} ({error}).", 'Write "package.module:name".'
        ) from error
    return [_part(module, name) for name in names.replace(" ", "").split(",")]


def _part(module: ModuleType, name: str) -> Part:
    found = getattr(module, name, None)
    if not isinstance(found, FunctionType) or found.__module__ != module.__name__:
        raise NotebookError(f"{module.__name__} defines no function {name!r}.", _did_you_mean(module, name))
    part = Part(module, name, textwrap.dedent(inspect.getsource(found)).rstrip())
    if not part.task:
        raise NotebookError(
            f"{module.__name__}.{name} has no docstring.", "It is what the learner reads as the task."
        )
    return part


def _did_you_mean(module: ModuleType, name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, list(vars(module)), n=1)
    return f"Did you mean {near[0]!r}?" if near else ""


def student_source(exercise: str, function: str) -> str:
    """The cell that a learner starts from."""
    stubs = []
    for part in load(function):
        task = part.task.removeprefix(f"Exercise {exercise}: ")
        short = textwrap.shorten(f"{exercise}: {task}", _STUB_WIDTH, placeholder=" ...")
        words = json.dumps(short, ensure_ascii=False)
        stubs.append(f"{part.head()}\n    raise NotImplementedError({words})")
    return "\n\n\n".join(stubs)


def solution_source(function: str) -> str:
    """The same cell with labkit's own source."""
    return "\n\n\n".join(part.source for part in load(function))


def tree_of(source: str) -> ast.Module:
    """A code cell's syntax tree; a notebook may await outside a function. Raises SyntaxError."""
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return compile(source, "cell", "exec", flags, dont_inherit=True)


def bound_names(source: str) -> set[str]:
    """The global names that a cell's code makes: by import, assignment, def, class, with, for and so on."""
    names: set[str] = set()
    for node in _outside_functions(tree_of(source)):
        if isinstance(node, Definition | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def _outside_functions(node: ast.AST) -> Iterable[ast.AST]:
    """The nodes of a tree that run in the module's own scope."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, Definition | ast.ClassDef | ast.Lambda):
            yield from _outside_functions(child)


def needed_names(function: str, lazy_annotations: bool = False) -> dict[str, str]:
    """The global names that an exercise's real source uses, each with the line that imports it.

    Annotations count too, unless the notebook has `from __future__ import annotations`.
    """
    parts = load(function)
    own = {part.name for part in parts}
    needed: dict[str, str] = {}
    for part in parts:
        imports = _imports(part.module)
        for name in sorted(_globals_of(part, lazy_annotations) - own - set(vars(builtins))):
            needed[name] = imports.get(name, f"from {part.module.__name__} import {name}")
    return needed


def _globals_of(part: Part, lazy_annotations: bool) -> set[str]:
    tree = part.definition
    skipped = _annotation_nodes(tree) if lazy_annotations else set()
    inner = [node for node in ast.walk(tree) if node not in skipped]
    loaded = {node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    local = {node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    local |= {node.arg for node in inner if isinstance(node, ast.arg)}
    local |= {node.name for node in inner if isinstance(node, ast.ExceptHandler) and node.name}
    local |= {node.name for node in inner if isinstance(node, Definition | ast.ClassDef) and node is not tree}
    for node in inner:
        if isinstance(node, ast.Import | ast.ImportFrom):
            local |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
    return loaded - local


def _annotation_nodes(tree: ast.AST) -> set[ast.AST]:
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(annotation, ast.AST):
                found |= set(ast.walk(annotation))
    return found


def _imports(module: ModuleType) -> dict[str, str]:
    """For each name that a module imports, the line that does it."""
    lines: dict[str, str] = {}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                lines[(alias.asname or alias.name).split(".")[0]] = f"import {_as(alias)}"
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                lines[alias.asname or alias.name] = f"from {node.module} import {_as(alias)}"
    return lines


def _as(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name
