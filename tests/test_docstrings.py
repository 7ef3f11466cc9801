"""Every example in a docstring of labkit says what really comes out."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import labkit

MODULES = ["labkit", *(found.name for found in pkgutil.walk_packages(labkit.__path__, "labkit."))]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(import_module(name)).failed == 0


def test_there_are_examples_to_try():
    finder = doctest.DocTestFinder(exclude_empty=True)
    with_examples = [
        name for name in MODULES if any(test.examples for test in finder.find(import_module(name)))
    ]
    assert len(with_examples) > 3
