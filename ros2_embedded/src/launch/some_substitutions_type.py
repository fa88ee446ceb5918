"""Types that an argument taking substitutions accepts."""

from __future__ import annotations

import os
from collections.abc import Iterable

from .substitution import Substitution

SomeSubstitutionsType = (
    str | os.PathLike[str] | Substitution | Iterable[str | os.PathLike[str] | Substitution]
)
"""One text, path or substitution, or several of them, whose results are concatenated."""

SomeSubstitutionsType_types_tuple = (str, os.PathLike, Substitution, Iterable)
