"""Names of repositories on the hub."""

from __future__ import annotations

import re
from dataclasses import dataclass

from openral_core.errors import NotFoundError
from openral_core.manifest.runtime import HUB_WORD, REVISION

HUB = "hf://"
_REPOSITORY = re.compile(rf"(?P<owner>{HUB_WORD})/(?P<name>{HUB_WORD})(@(?P<revision>{REVISION}))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class HubReference:
    """A repository, and a revision of it."""

    repository: str
    """owner/name"""
    revision: str = "main"
    """Branch, tag or commit, as it was asked for."""
    dataset: bool = False
    """It holds data and not weights; the hub keeps those apart."""

    @classmethod
    def parse(cls, text: str) -> HubReference:
        """Read `hf://owner/name`, `hf://owner/name@revision` or the same without `hf://`.

        Raises:
            NotFoundError: it is none of these.
        """
        found = _REPOSITORY.fullmatch(text.removeprefix(HUB))
        if found is None or ".." in text or len(text) > 300:
            raise NotFoundError(f"'{text[:80]}' is no hub repository; write hf://owner/name[@revision]")
        return cls(f"{found['owner']}/{found['name']}", found["revision"] or "main")

    @property
    def is_pinned(self) -> bool:
        """Whether the revision is a commit, which never means anything else."""
        return bool(_COMMIT.fullmatch(self.revision))

    def at(self, revision: str) -> HubReference:
        """Return the same repository at another revision."""
        return HubReference(self.repository, revision, self.dataset)

    def __str__(self) -> str:
        return f"{HUB}{self.repository}@{self.revision}"
