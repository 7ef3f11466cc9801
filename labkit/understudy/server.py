"""The understudy on the wire: `/v1/chat/completions` and `/v1/models` on 127.0.0.1, for any OpenAI client.

`Server` runs in a thread of this process (that is what `connect()` starts); `serve()` runs in the foreground
(that is `labkit serve`).
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from labkit.errors import ModelError
from labkit.understudy.faults import Fault, FaultSwitch, asked_for
from labkit.understudy.models import MODELS, WHAT_IT_IS, describe, model_list
from labkit.understudy.refusals import Refusal
from labkit.understudy.service import Service, read_body
from labkit.understudy.wire import DONE, Answer, chunks, completion, event

HOST = "127.0.0.1"


class LineCut(Exception):
    """Raised while a reply is being sent, so that the connection drops: the fault `cut`."""


# --- the application --------------------------------------------------------------------------------------


def make_app(service: Service, faults: FaultSwitch) -> Starlette:
    """The web application: three routes, and errors in the API's own form."""

    async def chat(request: Request) -> Response:
        body = read_body(await request.body())
        attempt = request.headers.get("x-stainless-retry-count", "0")
        fault = asked_for(body, int(attempt) if attempt.isdecimal() else 0) or faults.take()
        key = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        if fault:
            fault.refuse(key)
        answer = service.answer(body, key, fault)
        if body.get("stream"):
            options = body.get("stream_options") or {}
            return _sse(answer, bool(options.get("include_usage")), fault)
        return await _whole(answer, fault)

    async def models(request: Request) -> Response:
        return _json(model_list())

    async def model(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in MODELS:
            raise Refusal(404, f"The model '{name}' does not exist", param="model", code="model_not_found")
        return _json(describe(name))

    async def about(request: Request) -> Response:
        return _json({"name": "understudy", "what": WHAT_IT_IS, "models": list(MODELS)})

    routes = [
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/v1/models", models),
        Route("/v1/models/{name}", model),
        Route("/", about),
        Route("/v1", about),
    ]
    handlers: dict[Any, Any] = {Refusal: _refused, 404: _no_such_page, 405: _no_such_page, Exception: _failed}
    return Starlette(routes=routes, exception_handlers=handlers)


def _json(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A body as plain ASCII JSON: half a character in a message (a lone surrogate) has no UTF-8 form."""
    return Response(json.dumps(body), status, headers, "application/json")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return _json(error.body, error.status, error.headers)


async def _no_such_page(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    text = f"Invalid URL ({request.method} {request.url.path})"
    return _json(Refusal(status, text).body, status, getattr(error, "headers", None))


async def _failed(request: Request, error: Exception) -> Response:
    """A mistake in the understudy's own rules: said as such, in the API's form."""
    text = f"The understudy has a bug of its own ({type(error).__name__}: {error}). Please report it."
    return _json(Refusal(500, text, kind="server_error").body, 500)


async def _whole(answer: Answer, fault: Fault | None) -> Response:
    """A reply in one piece."""
    if fault and fault.kind == "slow":
        await asyncio.sleep(fault.seconds)
    body = completion(answer)
    if not fault or fault.kind != "cut":
        return _json(body)

    async def half() -> AsyncIterator[str]:
        text = json.dumps(body)
        yield text[: len(text) // 2]
        raise LineCut

    return StreamingResponse(half(), media_type="application/json")


def _sse(answer: Answer, include_usage: bool, fault: Fault | None) -> Response:
    """A reply as server-sent events."""
    events = [event(chunk) for chunk in chunks(answer, include_usage)]
    stream = _faulty(events, fault) if fault else _sound(events)
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def _sound(events: list[str]) -> AsyncIterator[str]:
    for text in events:
        yield text
    yield DONE


async def _faulty(events: list[str], fault: Fault) -> AsyncIterator[str]:
    """A stream with a fault: cut off, ended early, broken by an error, or slow."""
    breaks = fault.kind in ("cut", "unfinished", "error")
    for text in events[: fault.after] if breaks else events:
        if fault.kind == "slow":
            await asyncio.sleep(fault.seconds)
        yield text
    if fault.kind == "cut":
        raise LineCut
    if fault.kind == "error":
        text = "The server had an error while processing your request. Sorry about that!"
        yield event(Refusal(500, text, kind="server_error").body)
    if not breaks:
        yield DONE


# --- running it -------------------------------------------------------------------------------------------


def listening_socket(port: int = 0) -> socket.socket:
    """A socket on 127.0.0.1; port 0 takes a free one. Raises OSError when the port is taken."""
    # With the protocol named, asyncio sets TCP_NODELAY. Without it every reply waits 40 ms for an ACK.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if not hasattr(
            socket, "SO_EXCLUSIVEADDRUSE"
        ):  # Windows: SO_REUSEADDR would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(128)  # from here on clients wait in line, so an address that is printed can be used
    except OSError:
        listener.close()
        raise
    return listener


def _uvicorn_server(app: Starlette) -> uvicorn.Server:
    # The quiet settings matter: the server in a notebook's own process must not write into its output.
    config = uvicorn.Config(
        app,
        host=HOST,
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        http="h11",
        loop="asyncio",
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


class Server:
    """The understudy in a daemon thread of this process. Starts when made; `.url` is the base URL for a
    client.
    """

    def __init__(self, port: int = 0) -> None:
        self.faults = FaultSwitch()
        listener = listening_socket(port)
        self.port: int = listener.getsockname()[1]
        self._service = Service()
        self._server = _uvicorn_server(make_app(self._service, self.faults))
        self._thread = threading.Thread(
            target=self._run, args=(listener,), name="labkit-understudy", daemon=True
        )
        self._thread.start()
        self._wait_until_it_answers()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/v1"

    @property
    def running(self) -> bool:
        return self._thread.is_alive() and not self._server.should_exit

    def forget(self) -> None:
        """Empty the prefix cache, as if nobody had sent anything yet."""
        self._service.forget()

    def close(self) -> None:
        """End the thread and free the port. A stream that is being sent is cut."""
        self._server.should_exit = True
        self._server.force_exit = True
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=5)

    def _run(self, listener: socket.socket) -> None:
        with listener:
            self._server.run(sockets=[listener])

    def _wait_until_it_answers(self) -> None:
        """The socket queues clients from the first moment; this only waits to see that the thread lives."""
        pause = threading.Event()
        while not self._server.started:
            if not self._thread.is_alive():
                raise ModelError("The understudy's server did not start.", "Run `labkit doctor` to see why.")
            pause.wait(0.002)


def serve(port: int = 8765, say: Callable[[str], Any] = print, faults: FaultSwitch | None = None) -> None:
    """Run the understudy in the foreground until Ctrl-C, for any OpenAI client on this machine.

    `faults` is what its first requests meet.

    Raises OSError when the port is taken.
    """
    listener = listening_socket(port)
    say(banner(listener.getsockname()[1]))
    with listener, suppress(KeyboardInterrupt):  # Ctrl-C is the way to end it, not an error
        _uvicorn_server(make_app(Service(), faults or FaultSwitch())).run(sockets=[listener])


def banner(port: int) -> str:
    """What `labkit serve` says first."""
    return (
        f"The understudy answers at http://{HOST}:{port}/v1 (any key). Stop it with Ctrl-C.\n"
        f"{WHAT_IT_IS}\n"
        f"Models: {', '.join(MODELS)}"
    )
