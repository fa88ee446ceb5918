"""Remappings in one form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from launch import Substitution
from launch.utilities import normalize_to_list_of_substitutions

RemapRule = tuple[tuple[Substitution, ...], tuple[Substitution, ...]]


def normalize_remap_rule(remap_rule: Any) -> RemapRule:
    """Return a pair of names as a pair of tuples of substitutions; raise TypeError for anything else."""
    if not isinstance(remap_rule, (tuple, list)) or len(remap_rule) != 2:
        raise TypeError(f"a remapping is a pair of names, not {remap_rule!r}")
    old, new = remap_rule
    return tuple(normalize_to_list_of_substitutions(old)), tuple(normalize_to_list_of_substitutions(new))


def normalize_remap_rules(remap_rules: Iterable[Any]) -> Iterable[RemapRule]:
    """Yield each rule as `normalize_remap_rule` returns it."""
    if isinstance(remap_rules, str) or not isinstance(remap_rules, Iterable):
        raise TypeError(f"remappings are a list of pairs of names, not {remap_rules!r}")
    return [normalize_remap_rule(rule) for rule in remap_rules]
