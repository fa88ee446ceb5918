"""Runs an executable of an entry point: `python -m ros2_embedded.run <package> <executable> [arguments]`."""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from types import FrameType
from typing import Any

from ros2_embedded.packages import EXECUTABLES_GROUP, executables


def main(argv: list[str] | None = None) -> int:
    """Load the entry point, set `sys.argv` to the program's arguments, and call it in this process.

    Returns:
        The exit status: the result of the entry point if that is an int, else 0; 2 for a wrong command line;
        130 if Ctrl-C interrupted it before the program handles it, usually in its imports.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if len(arguments) < 2:
        sys.stderr.write("usage: python -m ros2_embedded.run <package> <executable> [arguments]\n")
        return 2
    package, name, *rest = arguments
    executable = executables(package).get(name)
    if executable is None or executable.target is None:
        known = ", ".join(sorted(executables(package))) or "none"
        sys.stderr.write(f"package {package!r} has no entry point executable {name!r}; it has: {known}\n")
        return 2
    sys.argv = [name, *rest]
    try:
        with _interruptible(), _uncollected():
            target = EntryPoint(name=name, value=executable.target, group=EXECUTABLES_GROUP).load()
        result = target()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return result if isinstance(result, int) else 0


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector away from what the block imports, which stays until the process ends."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Make Ctrl-C end the block with a KeyboardInterrupt, even if code in it handles the exception.

    Some extension modules drop an exception, or convert it to an ImportError, while they are imported.
    """
    interrupted = False
    former: Callable[[int, FrameType | None], Any] | int | None = signal.getsignal(signal.SIGINT)

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    is_default = former is signal.default_int_handler
    if is_default:
        signal.signal(signal.SIGINT, interrupt)
    try:
        # A launch blocks SIGINT until here, since an exception before this line could not be caught.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        yield
    finally:
        if is_default:
            signal.signal(signal.SIGINT, former)
        if interrupted:
            raise KeyboardInterrupt from None


if __name__ == "__main__":
    sys.exit(main())
