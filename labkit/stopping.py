"""Ending a turn from another thread: a sign that the turn looks at, and that wakes what it waits for.

The thread that runs the turn makes the sign the current one; a long wait (a stream, a command) looks it up,
and says what must be done to end it. Nothing is killed: the turn ends itself, in its own thread, with its
history sound.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from labkit.errors import TurnStopped

_current: ContextVar[StopSign | None] = ContextVar("labkit_stop_sign", default=None)


class StopSign:
    """Whether one turn is to end. `ask()` may be called from any thread, also before the turn begins.

    >>> sign = StopSign()
    >>> sign.ask()
    >>> sign.asked
    True
    """

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._lock = threading.Lock()
        self._wakers: list[Callable[[], None]] = []

    @property
    def asked(self) -> bool:
        """Whether the turn is to end."""
        return self._asked.is_set()

    def ask(self) -> None:
        """Let the turn end at its next step, and wake it where it waits."""
        with self._lock:
            self._asked.set()
            wakers = list(self._wakers)
        for wake in wakers:
            wake()

    def raise_if_asked(self) -> None:
        """Raise TurnStopped when the turn is to end."""
        if self.asked:
            raise TurnStopped("The turn was stopped.", "What was done so far is in the history.")

    @contextmanager
    def waking(self, wake: Callable[[], None]) -> Iterator[None]:
        """While inside, `ask()` also calls `wake`, in the asking thread; at once if it was asked already."""
        with self._lock:
            self._wakers.append(wake)
            late = self.asked
        try:
            if late:
                wake()
            yield
        finally:
            with self._lock:
                self._wakers.remove(wake)

    @contextmanager
    def current(self) -> Iterator[None]:
        """While inside, this is the sign of what runs in this thread."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)


def current_sign() -> StopSign | None:
    """The sign of the turn that runs in this thread; None outside of a turn."""
    return _current.get()


def hang_up(stream: Any) -> None:
    """Wake a thread that waits for the next piece of an SDK's stream: its connection ends here and now.

    Closing would not do: a thread that waits for a socket does not see it closed. Where the connection cannot
    be found (a stand-in, another client), the turn ends with the stream's next piece.
    """
    response = getattr(stream, "response", None)
    network = getattr(response, "extensions", {}).get("network_stream")
    connection = network.get_extra_info("socket") if network is not None else None
    if connection is not None:
        with suppress(OSError):  # it has ended by itself
            connection.shutdown(socket.SHUT_RDWR)
