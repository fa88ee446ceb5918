"""An awaitable for work that is done already."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from types import TracebackType
from typing import Any


class Done(Coroutine[Any, Any, None]):
    """May be awaited, or made a task of, and unlike a coroutine need not be."""

    def __await__(self) -> Generator[Any, None, None]:
        """Return at once."""
        yield from ()

    def send(self, value: Any) -> Any:
        """Return at once."""
        raise StopIteration

    def throw(self, typ: Any, val: BaseException | object = None, tb: TracebackType | None = None) -> Any:
        """Raise what is thrown in."""
        raise typ if isinstance(typ, BaseException) else typ()

    def close(self) -> None:
        """Nothing is open."""
