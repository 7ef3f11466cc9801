"""The tokenizer's vocabulary, shipped with labkit: no network, no cache, no writable home needed.

`vocab/o200k_base.tiktoken.gz` is the vocabulary that OpenAI publishes for `o200k_base`; NOTICE names where it
is from. It is handed to tiktoken as tiktoken wants it, as a file in its cache, so that tiktoken's own loading
checks the hash and finds no reason to look anywhere else.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from labkit.errors import VocabularyError

if TYPE_CHECKING:
    import tiktoken

SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Of the unpacked vocabulary; the hash that tiktoken itself expects."""

_FILE = Path(__file__).with_name("vocab") / "o200k_base.tiktoken.gz"
_CACHE_KEY = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""The name under which tiktoken looks for it: the sha1 of the address it would load it from."""
_lock = threading.Lock()


def load_encoding(name: str = "o200k_base") -> tiktoken.Encoding:
    """The tiktoken encoding, loaded once per process.

    Raises VocabularyError when the name is not one that labkit ships, or its file is missing or damaged.
    """
    if name != "o200k_base":
        raise VocabularyError(f"There is no vocabulary {name!r} in labkit.", "Use 'o200k_base'.")
    return _load(name)  # a function of its own, since a cache takes no name and the default for two things


@functools.cache
def _load(name: str) -> tiktoken.Encoding:
    import tiktoken

    with _lock, _vocabulary_on_disk(_unpacked()) as folder, _environment("TIKTOKEN_CACHE_DIR", str(folder)):
        return tiktoken.get_encoding(name)


_REINSTALL = (
    "Install labkit again: pip install --force-reinstall --no-deps agent-loop-labs (or -e . in a clone)."
)


def _unpacked() -> bytes:
    try:
        data = gzip.decompress(_FILE.read_bytes())
    except (OSError, EOFError, ValueError) as error:
        raise VocabularyError(f"The vocabulary {_FILE} cannot be read: {error}.", _REINSTALL) from error
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise VocabularyError(f"The vocabulary {_FILE} is damaged (its sha256 differs).", _REINSTALL)
    return data


@contextmanager
def _vocabulary_on_disk(data: bytes) -> Iterator[Path]:
    """A folder that holds the vocabulary as tiktoken's cache does, for the moment of loading."""
    with ExitStack() as stack:
        for parent in (
            None,
            "/dev/shm",
        ):  # /dev/shm: memory, there on Linux even when every disk is read-only
            try:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="labkit-", dir=parent)))
                (folder / _CACHE_KEY).write_bytes(data)
                break
            except OSError as error:
                reason = error
        else:
            raise VocabularyError(
                f"tiktoken reads its vocabulary from a file, and no temporary file can be written: {reason}.",
                "Set TMPDIR to a folder that can be written to, with 4 MB free.",
            )
        yield folder


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
