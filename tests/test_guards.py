"""What keeps tests apart from the world holds."""

from __future__ import annotations

import os
import socket

import pytest


@pytest.mark.parametrize("host", ["203.0.113.1", "example.com", b"example.com", "8.8.8.8"])
def test_a_test_cannot_leave_this_machine(host):
    with pytest.raises(AssertionError, match="may only reach this machine"):
        socket.create_connection((host, 443), timeout=1)


def test_a_test_can_talk_to_this_machine():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(("localhost", server.getsockname()[1]), timeout=5).close()


def test_no_key_reaches_a_test():
    assert [name for name in os.environ if name.startswith(("OPENAI_", "LABKIT_")) and "KEY" in name] == []
