"""`python -m ros2_embedded.run <package> <executable> [arguments]`: run an entry point executable in
this process.
"""

from __future__ import annotations

import signal
import sys
from importlib.metadata import EntryPoint

from ros2_embedded.packages import EXECUTABLES_GROUP, executables


def main(argv: list[str] | None = None) -> int:
    """Load the entry point, set `sys.argv` as a started program would see it, and call it.

    Returns:
        The exit status: what the entry point returns when that is an int, else 0; 2 for a wrong command line;
        130 when Ctrl-C came before the program could take care of it, in its imports as a rule.
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
        # A launch holds SIGINT back until here: an exception before this line cannot be caught.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        result = EntryPoint(name=name, value=executable.target, group=EXECUTABLES_GROUP).load()()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    sys.exit(main())
