"""Options of the sockets of links to other machines, and attempts to connect that nobody answers."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from ros2_embedded.tcp_sockets import SILENT_S, TCP_NOTSENT_LOWAT, TCP_USER_TIMEOUT, UNSENT_BYTES, TcpSockets

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the options are those of Linux")
CONNECTED, CONNECTING, CLOSED = 1, 2, 7  # of Linux' enum tcp_state
PATIENCE_S = 20.0


def state(one: socket.socket) -> int:
    return one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]


@pytest.fixture
def sockets() -> Iterator[list[socket.socket]]:
    """Of a listener that accepts nobody: one that is connected, and one whose attempt is not answered."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        found: list[socket.socket] = []
        while len(found) < 2 or state(found[-1]) == CONNECTED:  # until its queue is full
            found.append(stack.enter_context(socket.socket()))
            found[-1].setblocking(False)
            found[-1].connect_ex(listener.getsockname())
        yield [found[0], found[-1]]


def test_an_attempt_that_is_not_answered_is_given_up_and_a_link_is_kept(sockets: list[socket.socket]) -> None:
    connected, connecting = sockets
    watched = TcpSockets(answered_within_s=0.2)
    assert watched.set_up() >= len(sockets)
    assert (state(connected), state(connecting)) == (CONNECTED, CONNECTING)
    end = time.monotonic() + PATIENCE_S
    while state(connecting) == CONNECTING:
        assert time.monotonic() < end
        time.sleep(0.05)
        watched.set_up()
    assert (state(connected), state(connecting)) == (CONNECTED, CLOSED)


def test_an_attempt_has_its_time(sockets: list[socket.socket]) -> None:
    watched = TcpSockets(answered_within_s=3600.0)
    for _ in range(3):
        watched.set_up()
        assert state(sockets[1]) == CONNECTING


def test_what_waits_and_what_is_silent_is_limited(sockets: list[socket.socket]) -> None:
    TcpSockets(answered_within_s=3600.0).set_up()
    limits = [sockets[0].getsockopt(socket.IPPROTO_TCP, one) for one in (TCP_NOTSENT_LOWAT, TCP_USER_TIMEOUT)]
    assert limits == [UNSENT_BYTES, round(1e3 * SILENT_S)]
