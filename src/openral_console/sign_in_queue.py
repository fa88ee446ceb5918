"""Queues tries of passwords, one at a time for each place, so that a wrong one delays only those of its own place.

A place is a machine's address, or the network that one line of a provider has (the first 64 bits of IPv6), together
with the name that is tried: behind one address may be a whole company, whose operators do not wait for each other.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import IPv6Address, ip_address
from weakref import WeakValueDictionary

from openral_core.http.slow_clients import MOST_CONNECTIONS

MAX_OF_PLACE = 5
"""Most tries of one place that run or wait; more are refused unread."""
MAX_OF_ALL = MOST_CONNECTIONS // 4
"""Most tries of all places that run or wait: each keeps one of the connections that others need, too."""


class SignInQueue:
    """Lets one try of each place at a time pass. Used from one event loop."""

    def __init__(self) -> None:
        """Begin with an empty queue."""
        self._turns = WeakValueDictionary[tuple[str, str], asyncio.Lock]()
        self._waiting = Counter[tuple[str, str]]()

    @asynccontextmanager
    async def turn(self, host: str, name: str) -> AsyncIterator[bool]:
        """Wait for the turn of a try; False: too many wait already, and this one is not to be read.

        Args:
            host: address that it comes from.
            name: that is tried, of an operator; empty: one that nobody has.
        """
        place = (_network(host), name)
        if self._waiting[place] >= MAX_OF_PLACE or self._waiting.total() >= MAX_OF_ALL:
            yield False
            return
        turn = self._turns.setdefault(place, asyncio.Lock())
        self._waiting[place] += 1
        try:
            async with turn:
                yield True
        finally:
            self._waiting[place] -= 1
            if not self._waiting[place]:
                del self._waiting[place]


def _network(host: str) -> str:
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return address.exploded[:19]
    return str(getattr(address, "ipv4_mapped", None) or address)
