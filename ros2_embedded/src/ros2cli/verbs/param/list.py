"""ros2 param list."""

from __future__ import annotations

import argparse
import re

from ...errors import check_patterns
from ...node import cli_node, is_hidden, settle
from ...nodes import add_node_arguments, chosen_node, node_names
from ...parameters import get_descriptors, list_names, type_name
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_node_arguments(parser, optional=True)
    parser.add_argument(
        "--param-prefixes", nargs="+", default=[], metavar="PREFIX", help="only names that start so"
    )
    parser.add_argument("--filter", metavar="REGEX", help="only names in which this is found")
    parser.add_argument("--param-type", action="store_true", help="show the types")


def main(args: argparse.Namespace) -> int:
    """Print the names of the parameters of one node or of all."""
    check_patterns(args.filter or "")
    with cli_node() as node:
        if args.node_name is not None:
            targets = [chosen_node(node, args)]
        else:
            settle(node)
            services = dict(node.get_service_names_and_types())
            targets = [name for name in node_names(node) if args.include_hidden_nodes or not is_hidden(name)]
            targets = [name for name in targets if f"{name}/list_parameters" in services]
        for target in targets:
            if args.node_name is None:
                write(f"{target}:\n")
            names = list_names(node, target, args.param_prefixes)
            if args.filter is not None:
                names = [name for name in names if re.search(args.filter, name)]
            types = (
                [f" (type: {type_name(d.type)})" for d in get_descriptors(node, target, names)]
                if args.param_type
                else []
            )
            for index, name in enumerate(names):
                write(f"  {name}{types[index] if types else ''}\n")
    return 0
