"""Normalising and performing substitutions."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..substitution import Substitution

if TYPE_CHECKING:
    from ..launch_context import LaunchContext
    from ..some_substitutions_type import SomeSubstitutionsType


def normalize_to_list_of_substitutions(subs: SomeSubstitutionsType) -> list[Substitution]:
    """Return text, path, substitution or a sequence of them as a list of substitutions.

    Raises TypeError when something else is found, naming it.
    """
    from ..substitutions.text_substitution import TextSubstitution

    if isinstance(subs, Substitution):
        return [subs]
    if isinstance(subs, (str, os.PathLike)):
        return [TextSubstitution(text=os.fspath(subs))]
    if isinstance(subs, Iterable):
        return [one for item in subs for one in normalize_to_list_of_substitutions(item)]
    raise TypeError(
        f"expected text or a substitution, found {type(subs).__name__}: {subs!r}; write str(...) around it"
    )


def perform_substitutions(context: LaunchContext, subs: Iterable[Substitution]) -> str:
    """Perform the substitutions in order and return their results, concatenated."""
    return "".join(context.perform_substitution(sub) for sub in subs)
