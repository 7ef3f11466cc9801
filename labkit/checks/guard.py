"""Running a learner's function so that nothing it does can hurt: not a loop without end, not `sys.exit()`.

A function under check runs in the notebook's own thread (it may use what the notebook uses), watched from
outside. When its time is up, or its memory grows without end, `_Stop` is raised inside it. `_Stop` is a
BaseException, so `except Exception` in the learner's code does not catch it.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import psutil

SECONDS = 5.0
"""How long a function under check may run. Right answers need a few thousandths of that."""

MEMORY = 512 * 1024**2
"""Bytes by which the process may grow meanwhile: a loop that appends could take all within 5 s."""

_TICK = 0.05  # seconds between two looks at the watch
_PRINTED = 2_000  # characters of the learner's prints that are kept


class _Stop(BaseException):
    """Raised inside the learner's function to end it."""


class _StopAgain(_Stop):
    """The same, for code that swallowed it: made in the learner's own thread, it sets the traps there."""

    def __init__(self) -> None:
        super().__init__()
        _raise_wherever_it_is_caught(_learners_frames(sys._getframe()))


@dataclass(frozen=True)
class Outcome:
    """What came of one call: a value, or `error`; `stopped` is "time" or "memory" when it was ended."""

    value: Any = None
    error: BaseException | None = None
    stopped: str = ""
    printed: str = ""


def run_guarded(call: Callable[[], Any], seconds: float = SECONDS) -> Outcome:
    """Run `call`, for `seconds` at most, and catch whatever it raises.

    Only KeyboardInterrupt passes through: Jupyter's Stop button stays the learner's.

    >>> run_guarded(lambda: 6 * 7).value
    42
    """
    watch = _Watch(seconds)
    printed = _Printed()
    value, error = None, None
    try:
        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            watch.over_this_thread(),
        ):
            value = _call(call)
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # SystemExit and _Stop too: a card names them, the notebook goes on
        error = raised
    return Outcome(value, error, watch.reason, printed.getvalue())


def _call(call: Callable[[], Any]) -> Any:
    """The frame that marks where the learner's code begins: only what it calls is ever stopped."""
    return call()


def _learners_frames(frame: FrameType | None) -> list[FrameType]:
    """The frames from this one out to the learner's first; none when Python is in no learner's code."""
    frames: list[FrameType] = []
    while frame is not None and frame.f_code is not _call.__code__:
        frames.append(frame)
        frame = frame.f_back
    return frames if frame is not None else []


class _Printed(io.StringIO):
    """Keeps the start of what is printed: a loop that prints must not fill the memory."""

    def write(self, text: str) -> int:
        room = _PRINTED - self.tell()
        if room > 0:
            super().write(text[:room])
        return len(text)


class _Watch:
    """Looks at clock and memory at each tick; `reason` is "" until it stops the function."""

    def __init__(self, seconds: float) -> None:
        self.reason = ""
        self._process = psutil.Process()
        self._deadline = time.monotonic() + seconds
        self._memory = self._process.memory_info().rss + MEMORY
        self._running = False

    def over_this_thread(self) -> contextlib.AbstractContextManager[None]:
        """A context in which this thread is watched: by a timer signal, elsewhere by a thread."""
        on_main = threading.current_thread() is threading.main_thread()
        return self._by_signal() if on_main and hasattr(signal, "setitimer") else self._by_thread()

    def _is_over(self) -> bool:
        if self._running and not self.reason:
            if time.monotonic() >= self._deadline:
                self.reason = "time"
            elif self._process.memory_info().rss >= self._memory:
                self.reason = "memory"
        return self._running and bool(self.reason)

    @contextlib.contextmanager
    def _by_signal(self) -> Iterator[None]:
        """Each tick is a SIGALRM. It also wakes the function from a sleep."""
        stops = 0

        def tick(_number: int, frame: FrameType | None) -> None:
            nonlocal stops
            frames = _learners_frames(frame)
            is_over = bool(frames) and self._is_over()
            if is_over:
                stops += 1
                if stops > 1:  # an `except:` or `except BaseException:` swallowed the first
                    _raise_wherever_it_is_caught(frames)
            if self._running:
                signal.setitimer(signal.ITIMER_REAL, _TICK)  # set anew each time: a tick must not meet a tick
            if is_over:
                raise _Stop

        traced, profiled = sys.gettrace(), sys.getprofile()
        handler = signal.signal(signal.SIGALRM, tick)
        began = time.monotonic()
        left, interval = signal.setitimer(signal.ITIMER_REAL, _TICK)
        self._running = True
        try:
            yield
        finally:
            self._running = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, handler)
            if stops > 1:
                sys.setprofile(profiled)
                sys.settrace(traced)
            if left:  # somebody else's timer (a test's time limit) goes on as if we had not been here
                signal.setitimer(signal.ITIMER_REAL, max(0.001, left - (time.monotonic() - began)), interval)

    @contextlib.contextmanager
    def _by_thread(self) -> Iterator[None]:
        """A second thread asks Python to raise in this one: on Windows, and away from the main thread."""
        thread = threading.get_ident()
        watched = ctypes.c_ulong(thread)
        done = threading.Event()
        traced, profiled = sys.gettrace(), sys.getprofile()

        def look() -> None:
            stop: type[_Stop] = _Stop
            while not done.wait(_TICK):
                if _learners_frames(sys._current_frames().get(thread)) and self._is_over():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(watched, ctypes.py_object(stop))
                    stop = _StopAgain

        looker = threading.Thread(target=look, name="labkit-check-watch", daemon=True)
        self._running = True
        looker.start()
        try:
            yield
        finally:
            self._finish(looker, done)
            sys.setprofile(profiled)
            sys.settrace(traced)
            _take_delivery(watched)

    def _finish(self, looker: threading.Thread, done: threading.Event) -> None:
        """End the watching thread; a `_Stop` that arrives only now has nothing left to stop."""
        while looker.is_alive():
            with contextlib.suppress(_Stop):
                self._running = False
                done.set()
                looker.join()


def _take_delivery(thread: ctypes.c_ulong) -> None:
    """Let a `_Stop` that was asked for and is not needed arrive here, where nobody minds.

    It cannot be called back: taking the exception away leaves Python 3.11 with a note that there is one, and
    the next trace function then runs for ever.
    """
    with contextlib.suppress(_Stop):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(_Stop))
        while True:  # it is raised at a turn of a loop
            pass


def _raise_wherever_it_is_caught(frames: list[FrameType]) -> None:
    """Stop also code that catches everything: `_Stop` is raised once more at the next line of each frame.

    Python takes a trace function away when it raises; the profile function, told of each frame that is left,
    sets it again for the frames around. Only two catch-alls, one in the other in the same loop, get away.
    """

    def tracer(_frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            raise _Stop
        return tracer if event != "call" else None  # frames that begin only now are ours, or will be left

    def set_again(_frame: FrameType, event: str, _argument: Any) -> None:
        if event == "return":
            sys.settrace(tracer)

    sys.setprofile(set_again)
    sys.settrace(tracer)
    for frame in frames:
        frame.f_trace = tracer
