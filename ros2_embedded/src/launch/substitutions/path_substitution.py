"""A path that grows with the `/` operator."""

from __future__ import annotations

from ..some_substitutions_type import SomeSubstitutionsType
from .path_join_substitution import PathJoinSubstitution


class PathSubstitution(PathJoinSubstitution):
    """`PathSubstitution(FindPackageShare('p')) / 'launch' / 'x.launch.py'`."""

    def __init__(self, path: SomeSubstitutionsType) -> None:
        super().__init__(path if isinstance(path, (list, tuple)) else [path])

    def __truediv__(self, other: SomeSubstitutionsType) -> PathSubstitution:
        return PathSubstitution([*self.substitutions, other])  # type: ignore[list-item]
