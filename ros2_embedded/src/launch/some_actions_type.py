"""Types that an argument taking actions accepts."""

from __future__ import annotations

from collections.abc import Iterable

from .action import Action

SomeActionsType = Action | Iterable[Action]
"""One action or several."""
