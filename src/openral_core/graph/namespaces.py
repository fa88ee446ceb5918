"""Where the names of a deployment lie in the ROS graph: all below one namespace, so that several robots share a domain.

Nodes use names relative to their namespace, which is `/openral` unless a remapping says otherwise. `/clock`,
`/joint_states` and `/robot_description` are at the root for the default namespace, and below any other namespace.
`/tf`, `/tf_static`, `/diagnostics` and `/rosout` belong to the whole domain. What is said there names its robot: frames
begin with the namespace's prefix, and diagnostics with the namespace.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from openral_core.errors import UsageError

DEFAULT_NAMESPACE = "/openral"
COMPRESSED_SUFFIX = "/compressed"
"""After the topic of raw pictures: the topic of the same as JPEG, as image_transport names it."""
ONE_ROBOT = ("/clock", "/joint_states", "/robot_description")
"""Names at the root that only one robot of a domain can have."""
_POLICY = "/policy"
"""Below a deployment's namespace: that of its policy nodes, whose names are those of their skills."""
_NAMESPACE = re.compile(r"(/[A-Za-z][A-Za-z0-9_]*)+")


def read_namespace(text: str) -> str:
    """Return a namespace with its leading slash and without one at its end; empty text: the default.

    Raises:
        UsageError: ROS would not take it, or policy nodes have their names there.
    """
    space = f"/{text.strip('/')}" if text else DEFAULT_NAMESPACE
    if _NAMESPACE.fullmatch(space) is None or "__" in space:
        raise UsageError(
            f"namespace {text!r}: write words of letters, digits and single underscores that begin with a letter, "
            "with a slash before each, such as /arm2"
        )
    if space.endswith(_POLICY):
        raise UsageError(f"namespace {text!r}: `policy` at its end is kept for policy nodes; take another")
    return space


def namespace_option(namespace: str) -> str:
    """Return what a command that is advised ends with to be about the deployment in `namespace`; nothing for the
    default.
    """
    return "" if namespace == DEFAULT_NAMESPACE else f" --namespace {namespace}"


def estop_reset_command(namespace: str) -> str:
    """Return what a person types to release the emergency stop of the deployment in `namespace`."""
    return f"ros2 service call {namespace}/estop_reset std_srvs/srv/Trigger"


def policy_namespace(namespace: str) -> str:
    """Return the namespace of the policy nodes of the deployment in `namespace`."""
    return f"{namespace}{_POLICY}"


def deployment_of(node_namespace: str) -> str:
    """Return the namespace of the deployment that a node in `node_namespace` belongs to; at the root, the default."""
    return node_namespace.removesuffix(_POLICY).rstrip("/") or DEFAULT_NAMESPACE


def graph_name(node_namespace: str, name: str) -> str:
    """Return the full name of `name` in the deployment that a node in `node_namespace` belongs to."""
    return f"{deployment_of(node_namespace)}/{name}"


def is_of_another(named: str, own: str, others: Iterable[str]) -> bool:
    """Tell whether what names its node, such as a logger or a diagnosis, is of another deployment than the own one.

    Args:
        named: a text that begins with the full name of a node, its parts divided by dots or slashes.
        own: namespace of the own deployment.
        others: namespaces of the others that are known.
    """
    path = f"/{named.replace('.', '/').strip('/')}/"
    owners = [space for space in (own, *others) if path.startswith(f"{space}/")]
    return bool(owners) and max(owners, key=len) != own


def frame_prefix(node_namespace: str) -> str:
    """Return what the tf frames of a deployment begin with, such as `arm2/`; nothing in the default namespace."""
    space = deployment_of(node_namespace)
    return "" if space == DEFAULT_NAMESPACE else f"{space.strip('/')}/"


def remappings(namespace: str) -> list[tuple[str, str]]:
    """Return the remappings that bring the names at the root into the deployment in `namespace`."""
    return [] if namespace == DEFAULT_NAMESPACE else [(name, f"{namespace}{name}") for name in ONE_ROBOT]


def ros_arguments(namespace: str) -> list[str]:
    """Return the arguments with which `rclpy.init` puts the nodes of a process into the deployment in `namespace`."""
    if namespace == DEFAULT_NAMESPACE:
        return []
    rules = [("__ns", namespace), *remappings(namespace)]
    return ["--ros-args", *(word for source, target in rules for word in ("-r", f"{source}:={target}"))]
