"""Functions that entities share: normalising arguments, performing substitutions."""

from __future__ import annotations

from .arguments import ensure_argument_type, is_a, is_a_subclass, is_not_a, normalize_to_list_of_entities
from .signal_management import AsyncSafeSignalManager
from .substitutions import normalize_to_list_of_substitutions, perform_substitutions
from .visit import create_future, visit_all_entities_and_collect_futures

__all__ = [
    "AsyncSafeSignalManager",
    "create_future",
    "ensure_argument_type",
    "is_a",
    "is_a_subclass",
    "is_not_a",
    "normalize_to_list_of_entities",
    "normalize_to_list_of_substitutions",
    "perform_substitutions",
    "visit_all_entities_and_collect_futures",
]
