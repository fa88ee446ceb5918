"""A lifecycle node that loads a model or a scene when it is configured."""

from __future__ import annotations

from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn

from openral_core.errors import OpenralError
from openral_core.guarded_callbacks import GuardedCallbacks


class LoadingNode(GuardedCallbacks, LifecycleNode):
    """Loads its resources when it is configured, and frees them when it is cleaned up or shut down."""

    what = "the node"
    """The node in words, for its log."""

    def load(self) -> None:
        """Load the node's resources. Raises OpenralError: the node cannot run."""
        raise NotImplementedError

    def close(self) -> None:
        """End all work and free the resources; may be called repeatedly."""
        raise NotImplementedError

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Load the resources; log an error with a record for each line."""
        try:
            self.load()
        except OpenralError as error:
            log_cannot_run(self, self.what, error)
            return TransitionCallbackReturn.FAILURE
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        """Free the resources; the node can be configured again."""
        self.close()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: State) -> TransitionCallbackReturn:
        """Free the resources at the end of the node."""
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
