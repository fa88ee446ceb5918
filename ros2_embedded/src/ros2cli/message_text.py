"""Messages as text, as the echo verbs print them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from .errors import CliError

_DEFAULT_TRUNCATE_LENGTH = 128


def add_format_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that `format_message` looks at."""
    parser.add_argument("--csv", action="store_true", help="print comma separated values")
    parser.add_argument("--no-arr", action="store_true", help="print type and length of arrays only")
    parser.add_argument("--no-str", action="store_true", help="print type and length of strings only")
    parser.add_argument("--flow-style", action="store_true", help="print sequences and mappings in one line")
    parser.add_argument("-f", "--full-length", action="store_true", help="print all of arrays and strings")
    parser.add_argument("-l", "--truncate-length", type=int, default=_DEFAULT_TRUNCATE_LENGTH, metavar="N")


def format_message(
    message: Any, args: argparse.Namespace, names: Mapping[tuple[str, str], Mapping[int, str]] | None = None
) -> str:
    """Return a message as YAML with a line of dashes behind it, or as one line of values.

    Args:
        message: the message.
        args: parsed arguments of `add_format_arguments`.
        names: names for the numbers of fields of inner messages, by the names of both.
    """
    from rosidl_runtime_py import message_to_csv, message_to_ordereddict
    from rosidl_runtime_py.convert import as_yaml

    options: dict[str, Any] = {
        "truncate_length": None if args.full_length else args.truncate_length,
        "no_arr": args.no_arr,
        "no_str": args.no_str,
    }
    if args.csv:
        return message_to_csv(message, **options) + "\n"
    plain = message_to_ordereddict(message, **options)
    for (outer, inner), words in (names or {}).items():
        plain[outer][inner] = words.get(plain[outer][inner], plain[outer][inner])
    return as_yaml(plain, flow_style=args.flow_style) + "---\n"


def passes(message: Any, expression: str) -> bool:
    """Return whether an expression of `m` holds for a message; raise CliError when it cannot be evaluated."""
    from launch.utilities.expression import ExpressionError, evaluate

    try:
        return bool(evaluate(expression, values={"m": message}))
    except ExpressionError as error:
        raise CliError(f"filter '{expression}': {error}") from error
