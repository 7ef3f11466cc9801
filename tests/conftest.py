"""What every test stands on: a learner's folder of its own, no keys, and no network but this machine's."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dev", max_examples=100, deadline=None)
settings.register_profile(
    "ci", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile(
    "long", max_examples=100_000, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))

LOOPBACK = {"localhost", "::1", "0.0.0.0", "::", ""}
MODEL_VARIABLES = (
    "LABKIT_MODEL",
    "LABKIT_API_KEY",
    "LABKIT_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_ORG_ID",
    "OPENAI_PROJECT_ID",
)


def is_loopback(host: object) -> bool:
    """Whether a host, as sockets name it, is this machine."""
    name = host.decode() if isinstance(host, bytes) else host
    return name is None or (isinstance(name, str) and (name in LOOPBACK or name.startswith("127.")))


@pytest.fixture(autouse=True, scope="session")
def no_network() -> Iterator[None]:
    """Any connection that would leave this machine fails, with words that say so."""
    connect, connect_ex, resolve = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guard(address: object) -> None:
        if isinstance(address, tuple) and not is_loopback(address[0]):
            raise AssertionError(f"a test tried to reach {address[0]!r}; tests may only reach this machine")

    def guarded_connect(self, address):
        guard(address)
        return connect(self, address)

    def guarded_connect_ex(self, address):
        guard(address)
        return connect_ex(self, address)

    def guarded_resolve(host, *args, **kwargs):
        guard((host,))
        return resolve(host, *args, **kwargs)

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", guarded_connect)
    patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    patch.setattr(socket, "getaddrinfo", guarded_resolve)
    yield
    patch.undo()


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh learner's folder for this test alone; it is not made until labkit makes it."""
    folder = tmp_path / "my_labs"
    monkeypatch.setenv("LABKIT_WORKSPACE", str(folder))
    return folder


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no model's name in the environment: every test runs on the understudy."""
    for name in MODEL_VARIABLES:
        monkeypatch.delenv(name, raising=False)
