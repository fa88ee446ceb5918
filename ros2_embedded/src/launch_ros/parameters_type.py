"""Types of the argument `parameters`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from launch import SomeSubstitutionsType

from .parameter_descriptions import Parameter, ParameterFile

SomeParameters = Sequence[SomeSubstitutionsType | ParameterFile | Parameter | Mapping[Any, Any]]
"""Files, single parameters and (nested) dicts of parameters, later ones over earlier ones."""

SomeRemapRules = Sequence[tuple[SomeSubstitutionsType, SomeSubstitutionsType]]
"""Pairs of a name and what it becomes."""
