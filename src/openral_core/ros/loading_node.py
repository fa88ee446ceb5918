"""A lifecycle node that loads a model or a scene when it is configured."""

from __future__ import annotations

from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn

from openral_core.errors import OpenralError
from openral_core.guarded_callbacks import GuardedCallbacks


class LoadingNode(GuardedCallbacks, LifecycleNode):
    """Loads when it is configured, and lets go of everything when it is cleaned up or shut down."""

    what = "the node"
    """The node in words, for its log."""

    def load(self) -> None:
        """Load what the node works with. Raises OpenralError: it cannot run, and why."""
        raise NotImplementedError

    def close(self) -> None:
        """End what was begun and let go of what was loaded; called any number of times."""
        raise NotImplementedError

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Load; what is wrong is logged, a record for each line."""
        try:
            self.load()
        except OpenralError as error:
            log_cannot_run(self, self.what, error)
            return TransitionCallbackReturn.FAILURE
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        """Let go of what was loaded."""
        self.close()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: State) -> TransitionCallbackReturn:
        """Let go of what was loaded, for good."""
        self.close()
        return TransitionCallbackReturn.SUCCESS


def log_cannot_run(node: LifecycleNode, what: str, error: OpenralError) -> None:
    """Log why a node cannot be configured: one record for each line, since readers of a log keep to single lines.

    Args:
        node: which logs.
        what: the node in words, such as "the locator".
        error: why.
    """
    for line in str(error).splitlines():
        node.get_logger().error(f"{what} cannot run: {line}")
