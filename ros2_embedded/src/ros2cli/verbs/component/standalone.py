"""ros2 component standalone."""

from __future__ import annotations

import argparse

from ...components import add_load_arguments, load_request
from ...errors import CliError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("-c", "--container-node-name", default="standalone_container", help="its name")
    add_load_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Run a component in a container of its own, in this process, until interrupted."""
    import rclpy
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
    from rclpy_components import ComponentManager

    rclpy.init(args=[])
    executor = SingleThreadedExecutor()
    manager = ComponentManager(executor, args.container_node_name)
    executor.add_node(manager)
    try:
        answer = manager.load_node(load_request(args))
        if not answer.success:
            raise CliError(answer.error_message)
        executor.spin()
    except ExternalShutdownException:
        pass
    finally:
        manager.destroy_node()
        rclpy.try_shutdown()
    return 0
