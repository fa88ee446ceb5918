"""Small functions that programs import from the command line."""

from __future__ import annotations

import argparse
import functools
import inspect
import select
import sys
import time
from collections.abc import Callable
from typing import Any

from ros2_embedded.session_config import domain_id


def wait_for(predicate: Callable[[], bool], timeout: float, period: float = 0.1) -> bool:
    """Return whether a condition holds within `timeout` seconds; it is looked at every `period` seconds."""
    end = time.monotonic() + timeout
    while not predicate():
        if time.monotonic() > end:
            return predicate()
        time.sleep(period)
    return True


def get_ros_domain_id() -> int:
    """Return the domain of this process: ROS_DOMAIN_ID, else 0."""
    return domain_id()


def bind(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Return a function with its first arguments bound, under its own name and signature of what is left."""
    bound = functools.partial(func, *args, **kwargs)
    functools.update_wrapper(bound, func)
    return bound


def before_invocation(func: Callable[..., Any], hook: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls a hook with the same arguments first."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        hook(*args, **kwargs)
        return func(*args, **kwargs)

    return call


def pretty_print_call(func: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print a call as Python would write it."""
    words = [*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())]
    sys.stdout.write(f"{func.__name__}({', '.join(words)})\n")


def unsigned_int(string: str) -> int:
    """Return a whole number of at least zero, for `argparse`."""
    try:
        value = int(string)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError("value must be non-negative integer")
    return value


def collect_stdin() -> str | None:
    """Return what stands ready on the standard input, None when nothing does."""
    ready, _, _ = select.select([sys.stdin], [], [], 0.0)
    return "".join(sys.stdin.readlines()) if ready else None


def interactive_select(items: list[str], prompt: str | None = None) -> str | None:
    """Return the item that the user picks by its number at the terminal, None for none."""
    for number, item in enumerate(items, 1):
        sys.stdout.write(f"{number}: {item}\n")
    answer = input(prompt or "number: ").strip()
    chosen = int(answer) - 1 if answer.isdigit() else -1
    return items[chosen] if 0 <= chosen < len(items) else None


def get_first_line_of(function: Callable[..., Any]) -> str:
    """Return the first line of a function's documentation."""
    return (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".")
