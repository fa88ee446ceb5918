"""Ownership of processes: start, watch, signal, and leave nothing behind.

Each process a launch starts leads a session of its own, so that one signal reaches all it started in turn.
What a child started in yet another session is recognised by a tag in its environment. A guardian process
holds the other end of a pipe: when the launch goes, in whatever way, SIGKILL included, the guardian stops
what is left. Unlike `PR_SET_PDEATHSIG`, which a child's own children do not inherit and which fires when the
*thread* that started the child ends, this reaches grandchildren and does not care about threads.
"""

from .child import ChildProcess, ChildSpec
from .escalation import stop_process
from .guard import Guard

__all__ = ["ChildProcess", "ChildSpec", "Guard", "stop_process"]
