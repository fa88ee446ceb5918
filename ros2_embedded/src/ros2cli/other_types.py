"""What is said when a name is in use, but with another type than the one that was asked for.

No message passes between two types of one name, so a verb would wait in silence.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from .errors import CliError
from .node import DISCOVERY_TIMEOUT_S


def type_name(kind: str, interface: Any) -> str:
    """The full name of an interface class, such as std_msgs/msg/String for kind 'msg'."""
    return f"{interface.__module__.partition('.')[0]}/{kind}/{interface.__name__}"


def topic_warning(
    topic: str, wanted: str, endpoints: Callable[[str], Iterable[Any]], verb: str
) -> Callable[[], None]:
    """Return what to call while nothing comes: it warns once when the other end has other types only.

    Args:
        topic: the topic.
        wanted: full name of the type that was asked for.
        endpoints: gives the endpoints of a topic at its other end.
        verb: what these do with the topic, such as 'published'.
    """
    warned = False

    def look() -> None:
        nonlocal warned
        found = set() if warned else {info.topic_type for info in endpoints(topic)}
        if found and wanted not in found:
            warned = True
            sys.stderr.write(
                f"WARNING: topic [{topic}] is {verb} as [{', '.join(sorted(found))}], not as [{wanted}]; "
                "no message passes between types\n"
            )

    return look


def wait_for_server(
    name: str,
    wanted: str,
    wait: Callable[[float], bool],
    timeout_s: float | None,
    in_graph: Callable[[], Iterable[tuple[str, list[str]]]],
) -> bool:
    """Wait for a service or an action; a name that is served with other types only ends the wait.

    Args:
        name: full name of the service or action.
        wanted: full name of the type that was asked for.
        wait: waits so many seconds [s] and returns whether the server is there.
        timeout_s: how long to wait [s]; None for ever.
        in_graph: gives the services or actions in the graph with their types.

    Raises:
        CliError: the name is served with other types only.
    """
    left = float("inf") if timeout_s is None else timeout_s
    while left > 0.0:
        step = min(DISCOVERY_TIMEOUT_S, left)
        if wait(step):
            return True
        left -= step
        found = dict(in_graph()).get(name, [])
        if found and wanted not in found:
            raise CliError(f"'{name}' is of type {', '.join(found)}, not {wanted}")
    return wait(0.0)
