"""Normalising and performing substitutions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..substitution import Substitution

if TYPE_CHECKING:
    from ..launch_context import LaunchContext
    from ..some_substitutions_type import SomeSubstitutionsType


def normalize_to_list_of_substitutions(subs: SomeSubstitutionsType) -> list[Substitution]:
    """Return text, path, substitution or a sequence of them as a list of substitutions.

    Raises TypeError when something else is found, naming it; a sequence inside a sequence is something else.
    """
    from ..substitutions.text_substitution import TextSubstitution

    if isinstance(subs, Substitution):
        return [subs]
    if isinstance(subs, (str, os.PathLike)):
        return [TextSubstitution(text=os.fspath(subs))]
    if isinstance(subs, Iterable) and not isinstance(subs, (bytes, Mapping)):
        parts = list(subs)
        if all(isinstance(part, (Substitution, str, os.PathLike)) for part in parts):
            return [one for part in parts for one in normalize_to_list_of_substitutions(part)]
    raise TypeError(
        f"expected text or a substitution, found {type(subs).__name__}: {subs!r}; write str(...) around it"
    )


def perform_substitutions(context: LaunchContext, subs: Iterable[Substitution]) -> str:
    """Perform the substitutions in order and return their results, concatenated.

    Without a context, those that need none can still be performed.
    """
    if context is None:
        return "".join(sub.perform(None) for sub in subs)
    return "".join(context.perform_substitution(sub) for sub in subs)
