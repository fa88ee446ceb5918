"""The type of what is destroyed when nobody uses it any more."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol


class DestroyableType(Protocol):
    """What `.handle` of an object gives; usable in a `with` statement."""

    def __enter__(self) -> None:
        """Check that the object is still there."""

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exctb: TracebackType | None,
    ) -> None:
        """Let it go."""

    def destroy_when_not_in_use(self) -> None:
        """Destroy the object once nobody is in a `with` statement of it."""
