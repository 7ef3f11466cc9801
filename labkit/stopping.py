"""Ending a turn from another thread: a sign that the turn looks at, and that wakes what it waits for.

Nothing is killed: the turn ends itself, in its own thread, with its history sound. Only where it waits for
the network is the connection ended under it, since nothing else would wake it.
"""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import FrameType

from labkit.errors import TurnStopped

AGAIN = 0.1  # seconds; a client may try a request again whose connection was ended

_current: ContextVar[StopSign | None] = ContextVar("labkit_stop_sign", default=None)


class StopSign:
    """Whether one turn is to end. `ask()` may be called from any thread, also before the turn begins.

    >>> sign = StopSign()
    >>> sign.ask()
    >>> sign.asked
    True
    """

    def __init__(self) -> None:
        self._asked, self._over = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._wakers: list[Callable[[], None]] = []
        self._turn: tuple[int, FrameType] | None = None  # its thread, and the function that runs it

    @property
    def asked(self) -> bool:
        """Whether the turn is to end."""
        return self._asked.is_set()

    def ask(self) -> None:
        """Let the turn end at its next step, and wake it where it waits."""
        with self._lock:
            if self.asked:
                return
            self._asked.set()
            wakers = list(self._wakers)
        for wake in wakers:
            wake()
        threading.Thread(target=self._hang_up, name="labkit hang up", daemon=True).start()

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

    def __enter__(self) -> StopSign:
        """From here on, what runs in this thread is the turn."""
        self._token = _current.set(self)
        self._turn = (threading.get_ident(), sys._getframe(1))
        return self

    def __exit__(self, *_: object) -> None:
        self._turn = None
        self._over.set()
        _current.reset(self._token)

    def _hang_up(self) -> None:
        """End the connections that the turn waits for, until it is over."""
        while not self._over.is_set():
            turn = self._turn
            if turn is None:  # not begun yet: it will look at the sign itself
                return
            hang_up(*turn)
            self._over.wait(AGAIN)


def current_sign() -> StopSign | None:
    """The sign of the turn that runs in this thread; None outside of a turn."""
    return _current.get()


def hang_up(thread: int, base: FrameType) -> None:
    """If a thread waits for a socket, end that socket's connection; the wait then fails at once.

    Closing it would not do: on most systems a thread that waits for a socket does not see it closed. The
    clients keep their sockets to themselves, so it is looked for where it must be: among what the functions
    that wait are working on. Functions from `base` outwards are none of the turn's.
    """
    frame = sys._current_frames().get(thread)
    while frame is not None and frame is not base:
        for value in list(frame.f_locals.values()):
            found = value if isinstance(value, socket.socket) else getattr(value, "__dict__", {}).get("_sock")
            if isinstance(found, socket.socket):
                with suppress(OSError):  # it has ended by itself
                    found.shutdown(socket.SHUT_RDWR)
                return
        frame = frame.f_back
