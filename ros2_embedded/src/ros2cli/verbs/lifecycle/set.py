"""ros2 lifecycle set."""

from __future__ import annotations

import argparse

from ...errors import CliError
from ...lifecycle import chosen_lifecycle_node, get_transitions
from ...node import cli_node
from ...nodes import add_node_arguments
from ...services import call_once
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_node_arguments(parser)
    parser.add_argument("transition", help="label or number of the transition, such as configure")


def main(args: argparse.Namespace) -> int:
    """Make a lifecycle node change its state."""
    from lifecycle_msgs.srv import ChangeState

    with cli_node() as node:
        target = chosen_lifecycle_node(node, args)
        possible = {d.transition.label: d.transition.id for d in get_transitions(node, target)}
        by_word = {**possible, **{str(number): number for number in possible.values()}}
        if args.transition not in by_word:
            known = "".join(f"\n- {label} [{number}]" for label, number in possible.items())
            raise CliError(f"Unknown transition requested, available ones are:{known}")
        request = ChangeState.Request()
        request.transition.id = by_word[args.transition]
        success = call_once(node, ChangeState, f"{target}/change_state", request).success
    if not success:
        raise CliError(f"node '{target}' failed the transition '{args.transition}'")
    write("Transitioning successful\n")
    return 0
