"""Which model: the understudy in this process, or what the environment names."""

from __future__ import annotations

import atexit
import io
import os
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit.errors import ModelError
from labkit.places import find_workspace
from labkit.understudy.models import DEFAULT_MODEL, MODELS, is_understudy

if TYPE_CHECKING:  # both are slow to import, so only connect() does
    from openai import OpenAI

    from labkit.understudy.server import Server

MODEL, KEY, OWN_KEY, URL, OWN_URL = (
    "LABKIT_MODEL",
    "OPENAI_API_KEY",
    "LABKIT_API_KEY",
    "OPENAI_BASE_URL",
    "LABKIT_BASE_URL",
)
OFFLINE = f"To carry on offline with the understudy, unset {MODEL}."

_lock = threading.Lock()
_running: dict[int, tuple[Server, OpenAI]] = {}  # by process id: a forked child has no server thread


def connect(model: str | None = None) -> tuple[OpenAI, str]:
    """An OpenAI client and a model's name: by default the understudy, which is a set of rules and no language
    model.

    A name that starts with `understudy` means the stand-in: its server runs in a thread of this process,
    needs no key and no network, and is reused by the next call, which starts with an empty prefix cache. Any
    other name, given here or in LABKIT_MODEL (in the environment or a `.env` file), means a service: the key
    comes from LABKIT_API_KEY or OPENAI_API_KEY, the address from LABKIT_BASE_URL or OPENAI_BASE_URL. A key
    alone never switches away from the understudy.

    Raises ModelError, with what to do, for an unknown understudy or a missing key.
    """
    settings = read_settings()
    name = (model or settings.get(MODEL) or DEFAULT_MODEL).strip()
    if not is_understudy(name):
        return _service(name, settings)
    name = name.lower()
    if name not in MODELS:
        raise ModelError(f"No understudy is called {name!r}.", f"There are: {', '.join(MODELS)}.")
    server, client = _stand_in()
    server.forget()  # so that a notebook that is run again measures what it measured the first time
    return client, name


def understudy() -> Server:
    """The understudy's running server (started if need be). `.faults` switches faults on, `.url` is its
    address.
    """
    return _stand_in()[0]


def disconnect() -> None:
    """End the understudy's server thread, if one runs, and free its port. The next connect() starts a new
    one.
    """
    with _lock:
        found = _running.pop(os.getpid(), None)
    if found:
        server, client = found
        client.close()
        server.close()


def read_settings() -> dict[str, str]:
    """The variables that choose a model: the environment's, else those of a `.env` file here or in the
    learner's folder.

    Reads the files without changing the environment. Values are stripped; empty ones do not count.
    """
    found: dict[str, str | None] = {}
    for folder in (find_workspace(), Path.cwd()):
        found.update(_dotenv(folder / ".env"))
    found.update(
        {name: os.environ[name] for name in (MODEL, KEY, OWN_KEY, URL, OWN_URL) if os.environ.get(name)}
    )
    stripped = {name: (value or "").strip() for name, value in found.items()}
    # `set NAME="value"` keeps its quotes in a Windows prompt
    unquoted = {name: re.sub(r"^([\"'])(.*)\1$", r"\2", value).strip() for name, value in stripped.items()}
    return {name: value for name, value in unquoted.items() if value}


def _dotenv(path: Path) -> dict[str, str | None]:
    """What a `.env` file says; in UTF-8, or in UTF-16, which a Windows shell writes with `>`."""
    from dotenv import dotenv_values

    if not path.is_file():
        return {}
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise ModelError(
            f"The file {path} is not text that can be read ({error}).",
            "Save it as plain text in UTF-8, or take it away to carry on offline.",
        ) from error
    return dotenv_values(stream=io.StringIO(text))


def _stand_in() -> tuple[Server, OpenAI]:
    """The server and its client; started on first use, once for each process."""
    with _lock:
        found = _running.get(os.getpid())
        if found and found[0].running:
            return found
        _running.clear()  # what a fork copied from its parent is not ours to close
        _running[os.getpid()] = started = _start()
        return started


def _start() -> tuple[Server, OpenAI]:
    from labkit.understudy.server import Server

    server = Server()
    atexit.unregister(disconnect)
    atexit.register(disconnect)
    return server, _client(base_url=server.url, api_key="understudy-needs-no-key", max_retries=0, direct=True)


def _client(direct: bool = False, **settings: Any) -> OpenAI:
    import openai

    if direct:  # a proxy named in the environment must not stand between this process and itself
        settings["http_client"] = openai.DefaultHttpxClient(trust_env=False)
    return openai.OpenAI(**settings)


def _service(name: str, settings: dict[str, str]) -> tuple[OpenAI, str]:
    """A client for the service that the settings name."""
    url = settings.get(OWN_URL) or settings.get(URL)
    key = settings.get(OWN_KEY) or settings.get(KEY)
    if not key and not url:
        raise ModelError(
            f"The model {name!r} needs a key, and {KEY} is not set.",
            f"Set {KEY} (or {URL}, for a server of your own that needs none). {OFFLINE}",
        )
    if key and not (key.isascii() and key.isprintable()):
        raise ModelError(
            f"The key for {name!r} cannot be sent: it has characters that no key has.",
            f"Copy it into {KEY} again. {OFFLINE}",
        )
    if url and not url.startswith(("http://", "https://")):
        raise ModelError(
            f"The address {url!r} is not one of a service.",
            f"Give {URL} as a whole, such as http://localhost:8000/v1. {OFFLINE}",
        )
    try:
        return _client(base_url=url, api_key=key or "no-key"), name
    except Exception as error:  # httpx: a proxy in the environment that is no address, or needs a package
        raise ModelError(
            f"The way to the service cannot be set up ({error}).",
            f"Check the proxy settings in the environment and {URL}. {OFFLINE}",
        ) from error
