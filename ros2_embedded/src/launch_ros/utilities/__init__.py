"""Functions that launch files and tests share: namespaces, parameters, names of nodes."""

from .evaluate_parameters import evaluate_parameters
from .namespace_utils import (
    is_namespace_absolute,
    is_root_namespace,
    make_namespace_absolute,
    prefix_namespace,
)
from .normalize_parameters import normalize_parameters
from .track_node_names import add_node_name, get_node_name_count

__all__ = [
    "add_node_name",
    "evaluate_parameters",
    "get_node_name_count",
    "is_namespace_absolute",
    "is_root_namespace",
    "make_namespace_absolute",
    "normalize_parameters",
    "prefix_namespace",
]
