"""What is kept of a command's output: the head and the tail, however much there is."""

from __future__ import annotations

import os
import re
import threading
from typing import IO


class OutputKeeper:
    """Reads a pipe to its end in a thread and keeps at most `limit` bytes: the first and the last ones."""

    def __init__(self, pipe: IO[bytes], limit: int) -> None:
        self._head_limit = limit // 2
        self._tail_limit = limit - self._head_limit
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self._lock = threading.Lock()
        self._pipe = pipe
        self._thread = threading.Thread(target=self._read, name="labkit command output", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while True:
            try:
                piece = os.read(self._pipe.fileno(), 65_536)
            except (OSError, ValueError):  # the pipe was closed under us: there is no more
                return
            if not piece:
                return
            with self._lock:
                self._keep(piece)

    def _keep(self, piece: bytes) -> None:
        self._total += len(piece)
        room = self._head_limit - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        del self._tail[: -self._tail_limit]

    def wait(self, seconds: float) -> None:
        """Wait for the end of the pipe, which comes when the last process that holds it has gone."""
        self._thread.join(seconds)

    def close(self) -> None:
        """Close the pipe, unless somebody still holds its other end and the thread waits for more."""
        if not self._thread.is_alive():
            self._pipe.close()

    def text(self) -> str:
        """What was kept, with the cut named. Bytes that are no UTF-8 become the replacement sign."""
        with self._lock:
            head, tail, total = bytes(self._head), bytes(self._tail), self._total
        if total == len(head) + len(tail):
            return _decoded(head + tail)
        # A cut may fall within a character: what it leaves of one is left out too.
        head = re.sub(rb"[\xc0-\xff][\x80-\xbf]{0,2}\Z", b"", head)
        tail = re.sub(rb"\A[\x80-\xbf]{1,3}", b"", tail)
        left_out = total - len(head) - len(tail)
        return f"{_decoded(head)}\n[... {left_out:,} bytes left out here ...]\n{_decoded(tail)}"


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n")
