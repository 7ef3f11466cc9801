"""The vocabulary comes with labkit: no network, whatever the cache and the disk are like."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from labkit import vocabulary
from labkit.errors import VocabularyError
from labkit.vocabulary import load_encoding

LOAD = """
import socket
def refuse(*args, **kwargs): raise SystemExit("the network was tried")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
import os
before = os.environ.get("TIKTOKEN_CACHE_DIR")
from labkit.tokens import TokenCounter
assert os.environ.get("TIKTOKEN_CACHE_DIR") == before or TokenCounter() is None
print(TokenCounter().text("hello world"))
assert os.environ.get("TIKTOKEN_CACHE_DIR") == before
"""


def count_in_a_fresh_process(**environment):
    done = subprocess.run(
        [sys.executable, "-c", LOAD],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("cache", ["empty", "missing", "corrupt", "unwritable", "switched off"])
def test_it_loads_whatever_tiktokens_cache_is_like(cache, tmp_path: Path):
    folder = tmp_path / "cache"
    if cache in ("empty", "corrupt"):
        folder.mkdir()
    if cache == "corrupt":
        (folder / "fb374d419588a4632f3f557e76b4b70aebbca790").write_text("damaged")
    if cache == "unwritable":
        folder.write_text("a file where the folder should be")
    named = "" if cache == "switched off" else str(folder)
    assert count_in_a_fresh_process(TIKTOKEN_CACHE_DIR=named) == "2"


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="memory as a folder is a thing of Linux")
def test_it_loads_when_no_disk_can_be_written():
    program = (
        "import tempfile\n"
        "def nowhere(*a, **k): raise FileNotFoundError('No usable temporary directory found')\n"
        "tempfile._get_default_tempdir = nowhere\n" + LOAD
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "2"), done.stderr


def test_an_encoding_that_is_not_shipped_is_refused_with_the_one_that_is():
    with pytest.raises(VocabularyError, match="o200k_base"):
        load_encoding("p50k_base")


@pytest.mark.parametrize("damage", ["missing", "not gzip", "other content"])
def test_a_damaged_vocabulary_says_how_to_get_it_back(damage, tmp_path, monkeypatch):
    import gzip

    file = tmp_path / "vocabulary.gz"
    if damage == "not gzip":
        file.write_bytes(b"hello")
    if damage == "other content":
        file.write_bytes(gzip.compress(b"aGVsbG8= 0\n"))
    monkeypatch.setattr("labkit.vocabulary._FILE", file)
    monkeypatch.setattr("labkit.vocabulary._load", vocabulary._load.__wrapped__)  # as in a new process
    with pytest.raises(VocabularyError, match="Install labkit again"):
        load_encoding()
