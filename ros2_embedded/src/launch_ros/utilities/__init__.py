"""Functions that launch files and tests share: namespaces, parameters, names of nodes."""

from .evaluate_parameters import evaluate_parameters
from .namespace_utils import (
    is_namespace_absolute,
    is_root_namespace,
    make_namespace_absolute,
    prefix_namespace,
)
from .normalize_parameters import normalize_parameters
from .normalize_remap_rules import normalize_remap_rule, normalize_remap_rules
from .plugin_support import PLUGIN_SYSTEM_VERSION, PluginException, satisfies_version
from .to_parameters_list import to_parameters_list
from .track_node_names import add_node_name, get_node_name_count

__all__ = [
    "PLUGIN_SYSTEM_VERSION",
    "PluginException",
    "add_node_name",
    "evaluate_parameters",
    "get_node_name_count",
    "is_namespace_absolute",
    "is_root_namespace",
    "make_namespace_absolute",
    "normalize_parameters",
    "normalize_remap_rule",
    "normalize_remap_rules",
    "prefix_namespace",
    "satisfies_version",
    "to_parameters_list",
]
