"""A context: one session with the network, the ROS arguments, and the switch that ends everything."""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any

from rclpy.arguments import RosArguments, parse_arguments, refuse_unknown
from rclpy.handle import Handle
from rclpy.passed_on import pass_on
from ros2_embedded.environment import announce
from ros2_embedded.session import RosSession
from ros2_embedded.session_config import MAX_DOMAIN_ID
from ros2_embedded.session_config import domain_id as domain_from_environment

if TYPE_CHECKING:
    from rclpy.node import Node

announce()  # whoever imports rclpy has a ROS 2


class Context:
    """What `init` makes and `shutdown` ends; nodes belong to one context.

    Attributes:
        servers_only: how the names of services end, and their type, for a program that needs no more of the
            graph than the servers of these; set it before `init`. None, as in ROS 2: the whole graph, which a
            newcomer has only after seconds where there are a hundred robots.
    """

    servers_only: tuple[str, str] | None = None

    def __init__(self) -> None:
        """Make a context that is not initialised."""
        self._lock = RLock()
        self._close_lock = RLock()
        self._valid = False
        self._handle = Handle(lambda: self._valid, self)
        self._used = False
        self._session: RosSession | None = None
        self._process = os.getpid()
        self._callbacks: list[Callable[[], None] | weakref.WeakMethod[Callable[[], None]]] = []
        self._nodes: weakref.WeakSet[Node] = weakref.WeakSet()
        self._executor: Any = None  # behind `rclpy.spin`; it lives as long as the context
        self.arguments = RosArguments()
        self._domain_id = 0

    @property
    def session(self) -> RosSession:
        """The network session.

        Raises:
            NotInitializedException: before `init` and after `shutdown`.
        """
        from rclpy.exceptions import NotInitializedException

        if self._session is None:
            raise NotInitializedException("the context is not valid")
        return self._session

    @property
    def handle(self) -> Handle:
        """Return a handle to use in a `with` statement, which fails once this was destroyed."""
        return self._handle

    def init(
        self,
        args: list[str] | None = None,
        *,
        initialize_logging: bool = True,
        domain_id: int | None = None,
    ) -> None:
        """Parse the ROS arguments and open the session.

        Args:
            args: command line without ROS meaning outside `--ros-args`; None takes `sys.argv`.
            initialize_logging: apply `--log-level`.
            domain_id: 0 to 232; None takes ROS_DOMAIN_ID, else 0.

        Raises:
            RuntimeError: initialised already, or a bad domain id.
            SessionConfigError: the environment lets no session be opened, as by a wrong ROS_DOMAIN_ID.
            RCLInvalidROSArgsError: a ROS argument cannot be understood.
            UnknownROSArgsError: a word after `--ros-args` is no ROS argument.
            UnicodeEncodeError: a word is no UTF-8 text.
        """
        from rclpy.logging import configure_from_arguments

        with self._lock:
            if self._used:
                raise RuntimeError("Context.init() must only be called once")
            words = sys.argv if args is None else list(args)
            for word in words:
                word.encode()  # what the shell could not decode cannot be a name in the graph
            self.arguments = refuse_unknown(parse_arguments(words))
            self._domain_id = domain_from_environment() if domain_id is None else domain_id
            if not 0 <= self._domain_id <= MAX_DOMAIN_ID:
                raise RuntimeError(f"Domain id ({self._domain_id}) must be in [0, {MAX_DOMAIN_ID}]")
            if initialize_logging:
                configure_from_arguments(self.arguments)
            self._process = os.getpid()
            self._session = RosSession(self._domain_id, self.arguments.enclave, self.servers_only)
            self._valid = self._used = True
        atexit.register(self._close)

    def ok(self) -> bool:
        """True between `init` and `shutdown`."""
        return self._valid

    @property
    def is_spent(self) -> bool:
        """True after shutdown: such a context cannot be initialised again."""
        return self._used and not self._valid

    def get_domain_id(self) -> int:
        """The ROS domain."""
        return self._domain_id

    def track_node(self, node: Node) -> None:
        """Remember a node, so that it is destroyed with the context."""
        self._nodes.add(node)

    def untrack_node(self, node: Node) -> None:
        """Forget a node."""
        self._nodes.discard(node)

    def on_shutdown(self, callback: Callable[[], None]) -> None:
        """Call a function at shutdown, from the thread that shuts down.

        Raises:
            TypeError: not callable.
        """
        if not callable(callback):
            raise TypeError("callback should be a callable, got {}", type(callback))
        with self._lock:
            alive = [known for known in self._callbacks if _resolve(known) is not None]
            self._callbacks = [*alive, _weak(callback)]

    def _off_shutdown(self, callback: Callable[[], None]) -> None:
        """Undo `on_shutdown` of a function that is no method."""
        with self._lock:
            self._callbacks = [known for known in self._callbacks if known is not callback]

    def _invalidate(self) -> None:
        """Make `ok` false and wake everybody, without touching the network; safe in a signal handler.

        An exception of a callback comes out when all are called, as others wake executors.
        """
        if not self._valid:
            return
        self._valid = False
        callbacks, self._callbacks = self._callbacks, []
        failure: Exception | None = None
        for known in callbacks:
            callback = _resolve(known)
            try:
                if callback is not None:
                    callback()
            except Exception as error:  # noqa: BLE001 - a program's callback may raise anything; raised below
                failure = failure or error
        if self._session is not None:
            self._session.graph.notify()
        if failure is not None:
            raise failure

    def shutdown(self) -> None:
        """End the context.

        Raises:
            RCLError: not initialised, or shut down before; a signal does that too.
        """
        from rclpy.impl.errors import RCLError

        if not self._valid:
            self._close()
            if self._used:
                raise RCLError("failed to shutdown: rcl_shutdown already called on the given context")
            raise RCLError("Context must be initialized before it can be shutdown")
        self.try_shutdown()

    def try_shutdown(self) -> None:
        """End the context if it is not ended yet, and close its session."""
        try:
            self._invalidate()
        finally:
            self._close()

    def destroy(self) -> None:
        """Release the session; does nothing when the context was shut down."""
        self.try_shutdown()

    def _close(self) -> None:
        if self._process != os.getpid():  # a child by `os.fork` has none of the session's threads
            return
        # Another thread that is closing must have ended: at the end of the interpreter it could not.
        with self._close_lock:
            session, self._session = self._session, None
            if session is not None:
                session.close()
                atexit.unregister(self._close)

    def __enter__(self) -> Context:
        if not self._used:
            self.init()
        return self

    def __exit__(self, *_: Any) -> None:
        self.try_shutdown()


def _weak(callback: Callable[[], None]) -> Callable[[], None] | weakref.WeakMethod[Callable[[], None]]:
    """Bound methods are held weakly: a context must not keep executors and nodes alive."""
    if not hasattr(callback, "__self__") or not hasattr(callback, "__func__"):
        return callback
    return weakref.WeakMethod(callback)


def _resolve(
    known: Callable[[], None] | weakref.WeakMethod[Callable[[], None]],
) -> Callable[[], None] | None:
    """The function behind what `_weak` made; None when its object is gone."""
    return known() if isinstance(known, weakref.WeakMethod) else known


pass_on(__name__)
