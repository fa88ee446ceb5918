"""`python -m ros2_embedded.run <package> <executable> [arguments]`: run an entry point executable in
this process.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from types import FrameType
from typing import Any

from ros2_embedded.packages import EXECUTABLES_GROUP, executables


def main(argv: list[str] | None = None) -> int:
    """Load the entry point, set `sys.argv` as a started program would see it, and call it.

    Returns:
        The exit status: what the entry point returns when that is an int, else 0; 2 for a wrong command line;
        130 when Ctrl-C interrupted before the program could take care of it, in its imports as a rule.
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
        with _interruptible():
            target = EntryPoint(name=name, value=executable.target, group=EXECUTABLES_GROUP).load()
        result = target()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return result if isinstance(result, int) else 0


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Have Ctrl-C end the block as a KeyboardInterrupt, whatever the code in it makes of the exception.

    Extension modules drop an exception at times, or turn it into an ImportError, while they are imported.
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
        # A launch holds SIGINT back until here: an exception before this line cannot be caught.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        yield
    finally:
        if is_default:
            signal.signal(signal.SIGINT, former)
        if interrupted:
            raise KeyboardInterrupt from None


if __name__ == "__main__":
    sys.exit(main())
