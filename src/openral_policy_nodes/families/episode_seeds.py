"""Seeds for policies that sample: the same episode, replayed, gets the same noise. Standard library only."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

REMEMBERED = 4096
"""Episodes whose chunks are counted; the ones asked for longest ago are forgotten first."""


class EpisodeSeeds:
    """Counts the chunks of each episode and turns name and count into a seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._chunks: OrderedDict[str, int] = OrderedDict()

    def reset(self, episodes: Sequence[str]) -> None:
        """Begin these episodes anew."""
        for episode in episodes:
            self._chunks.pop(episode, None)

    def next(self, episodes: Sequence[str]) -> int:
        """Return the seed of the next batch, 0 to 2**63 - 1; without names, all batches are of one episode."""
        digest = hashlib.sha256(str(self._seed).encode())
        for episode in episodes or ("",):
            count = self._chunks.pop(episode, 0)
            self._chunks[episode] = count + 1
            digest.update(f"\0{episode}\0{count}".encode())
        while len(self._chunks) > max(REMEMBERED, len(episodes)):
            self._chunks.popitem(last=False)
        return int.from_bytes(digest.digest()[:8], "little") >> 1
