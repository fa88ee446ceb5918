"""ros2 bag burst."""

from __future__ import annotations

import argparse

from ...errors import CliError
from . import play


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb: those of `play`, of which the ones about time mean nothing here."""
    play.add_arguments(parser)
    parser.add_argument(
        "-n", "--num-messages", type=int, default=0, metavar="N", help="so many messages; all by default"
    )


def main(args: argparse.Namespace) -> int:
    """Publish the first messages of a bag, or all, as fast as they can be read."""
    if args.num_messages < 0:
        raise CliError(f"--num-messages {args.num_messages} must not be negative")
    args.loop = False
    return play.main(args, args.num_messages)
