"""Functions that entities share: normalising arguments, performing substitutions."""

from __future__ import annotations

from .arguments import ensure_argument_type, is_a, is_a_subclass, normalize_to_list_of_entities
from .substitutions import normalize_to_list_of_substitutions, perform_substitutions

__all__ = [
    "ensure_argument_type",
    "is_a",
    "is_a_subclass",
    "normalize_to_list_of_entities",
    "normalize_to_list_of_substitutions",
    "perform_substitutions",
]
