"""Seeds for policies that sample, so that a replayed episode gets the same noise. Standard library only."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

REMEMBERED = 4096
"""Largest number of episodes whose chunks are counted; beyond it the least recently used ones are dropped."""


class EpisodeSeeds:
    """Counts the chunks of each episode, and derives seeds from its name and this count."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._chunks: OrderedDict[str, int] = OrderedDict()

    def reset(self, episodes: Sequence[str]) -> None:
        """Set the counts of these episodes to zero."""
        for episode in episodes:
            self._chunks.pop(episode, None)

    def next(self, episodes: Sequence[str]) -> int:
        """Return the seed of the next batch, 0 to 2**63 - 1; without episodes, all batches count as one episode."""
        digest = hashlib.sha256(str(self._seed).encode())
        for episode in episodes or ("",):
            count = self._chunks.pop(episode, 0)
            self._chunks[episode] = count + 1
            digest.update(f"\0{episode}\0{count}".encode())
        while len(self._chunks) > max(REMEMBERED, len(episodes)):
            self._chunks.popitem(last=False)
        return int.from_bytes(digest.digest()[:8], "little") >> 1
