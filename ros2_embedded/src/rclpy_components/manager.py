"""The node that loads components on request."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

from composition_interfaces.srv import ListNodes, LoadNode, UnloadNode

from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.parameter import Parameter

from .registry import ComponentNotFoundError, load_component


class ComponentManager(Node):
    """Serves `~/_container/load_node`, `unload_node` and `list_nodes`.

    Args:
        executor: spins this node and gets every loaded one.
        node_name: name of the container.
        **kwargs: see `rclpy.node.Node`.
    """

    def __init__(self, executor: Executor, node_name: str = "ComponentManager", **kwargs: Any) -> None:
        super().__init__(node_name, **kwargs)
        self._loader_executor = executor
        self._loaded: dict[int, Node] = {}
        self._ids = itertools.count(1)
        self.create_service(LoadNode, "~/_container/load_node", self._load)
        self.create_service(UnloadNode, "~/_container/unload_node", self._unload)
        self.create_service(ListNodes, "~/_container/list_nodes", self._list)

    @property
    def loaded(self) -> dict[int, Node]:
        """The loaded nodes by number."""
        return dict(self._loaded)

    def load_node(self, request: Any) -> Any:
        """Load a component and return the answer that the service would give."""
        return self._load(request, LoadNode.Response())

    def destroy_node(self) -> None:
        """Destroy the loaded nodes, then the container's own."""
        for number in list(self._loaded):
            self._drop(number)
        super().destroy_node()

    def _load(self, request: Any, response: Any) -> Any:
        try:
            component = load_component(request.package_name, request.plugin_name)
            node = self._make(component, request)
        except (ComponentNotFoundError, ImportError, TypeError) as error:
            return self._refuse(request, response, str(error))
        # A component is somebody's code, whose failure, or end, must not end the other components.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            return self._refuse(request, response, f"{type(error).__name__}: {error}")
        number = next(self._ids)
        self._loaded[number] = node
        self._loader_executor.add_node(node)
        response.success = True
        response.full_node_name = node.get_fully_qualified_name()
        response.unique_id = number
        self.get_logger().info(f"Loaded {request.plugin_name} as '{response.full_node_name}'")
        return response

    def _refuse(self, request: Any, response: Any, reason: str) -> Any:
        response.success = False
        response.error_message = f"Failed to load component '{request.plugin_name}': {reason}"
        self.get_logger().error(response.error_message)
        return response

    def _make(self, component: type, request: Any) -> Node:
        """Construct a component; raise TypeError if it is no node or takes no keywords."""
        if not (isinstance(component, type) and issubclass(component, Node)):
            raise TypeError(f"{component!r} is no rclpy Node")
        words = ["--ros-args"]
        if request.node_name:
            words += ["-r", f"__node:={request.node_name}"]
        if request.node_namespace:
            words += ["-r", f"__ns:={request.node_namespace}"]
        for rule in request.remap_rules:
            words += ["-r", rule]
        keywords: dict[str, Any] = {
            "context": self.context,
            "cli_args": words,
            "parameter_overrides": [Parameter.from_parameter_msg(message) for message in request.parameters],
            "use_global_arguments": False,  # they name the container itself
        }
        try:
            inspect.signature(component).bind(**keywords)
        except TypeError as error:
            raise TypeError(
                f"{component.__name__} does not take the keyword arguments of a component ({error}); "
                "write def __init__(self, **kwargs) and pass them to Node.__init__"
            ) from error
        before = set(self.context._nodes)
        try:
            node: Node = component(**keywords)
        except BaseException:
            for half in set(self.context._nodes) - before:  # it would stay in the graph
                if isinstance(half, component):
                    Node.destroy_node(half)
            raise
        return node

    def _drop(self, number: int) -> str:
        """Destroy a loaded node; return why its own way to end failed, empty: it did not."""
        node = self._loaded.pop(number)
        self._loader_executor.remove_node(node)
        try:
            node.destroy_node()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as in `_load`
            Node.destroy_node(node)
            reason = f"'{node.get_name()}' is unloaded, but its end failed: {type(error).__name__}: {error}"
            self.get_logger().error(reason)
            return reason
        return ""

    def _unload(self, request: Any, response: Any) -> Any:
        if request.unique_id not in self._loaded:
            response.success = False
            response.error_message = f"No node found with unique_id: {request.unique_id}"
            return response
        response.error_message = self._drop(request.unique_id)
        response.success = not response.error_message
        return response

    def _list(self, request: Any, response: Any) -> Any:
        response.unique_ids = list(self._loaded)
        response.full_node_names = [node.get_fully_qualified_name() for node in self._loaded.values()]
        return response
