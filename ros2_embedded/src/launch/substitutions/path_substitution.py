"""Paths that grow with the `/` operator."""

from __future__ import annotations

from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from .path_join_substitution import PathJoinSubstitution


class PathLikeSubstitution(Substitution):
    """The base of substitutions that yield a path: `FindPackageShare('p') / 'launch' / 'x.launch.py'`."""

    def __truediv__(self, other: SomeSubstitutionsType) -> PathSubstitution:
        """Return the path with a part appended."""
        return PathSubstitution([self, other])  # type: ignore[list-item]


class PathSubstitution(PathJoinSubstitution, PathLikeSubstitution):
    """A path, or the parts of one, each of which may be several substitutions that are concatenated."""

    def __init__(self, path: SomeSubstitutionsType) -> None:
        super().__init__(path if isinstance(path, (list, tuple)) else [path])

    def __truediv__(self, other: SomeSubstitutionsType) -> PathSubstitution:
        """Return the path with a part appended."""
        return PathSubstitution([*self.substitutions, other])  # type: ignore[list-item]
