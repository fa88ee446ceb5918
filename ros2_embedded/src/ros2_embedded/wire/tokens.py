"""Liveliness tokens, which announce nodes and their endpoints, and the records parsed from them."""

from __future__ import annotations

from dataclasses import dataclass

from ros2_embedded.wire import qos_text
from ros2_embedded.wire.keys import dds_type, gid_of, interface_name
from ros2_embedded.wire.qos_text import WireQoS

PREFIX = "@ros2_lv"
NODE, PUBLISHER, SUBSCRIPTION, SERVICE, CLIENT = "NN", "MP", "MS", "SS", "SC"
_ENDPOINTS = (PUBLISHER, SUBSCRIPTION, SERVICE, CLIENT)
_NODE_PARTS, _ENDPOINT_PARTS = 9, 13


def mangle(name: str) -> str:
    """Return a name with its slashes, which would split the key, replaced; an empty name becomes `%`."""
    return name.replace("/", "%") or "%"


def _demangle(text: str) -> str:
    return text.replace("%", "/")


@dataclass(frozen=True)
class NodeRecord:
    """A node in the graph: session id, node id, name, and namespace with its leading slash."""

    session: str
    node_id: str
    namespace: str
    name: str
    enclave: str = "/"


@dataclass(frozen=True)
class EndpointRecord:
    """A publisher, subscription, service or client in the graph.

    Attributes:
        kind: PUBLISHER, SUBSCRIPTION, SERVICE or CLIENT.
        node: the node that owns it.
        name: fully qualified topic or service name.
        type_name: interface name, e.g. `std_msgs/msg/String`.
        type_hash: `RIHS01_...`.
        qos: profile announced.
        gid: 16 bytes.
    """

    kind: str
    node: NodeRecord
    name: str
    type_name: str
    type_hash: str
    qos: WireQoS
    gid: bytes


def _namespace(namespace: str) -> str:
    return "%" if namespace in ("", "/") else mangle(namespace)


def node_token(domain: int, session: str, node_id: int, namespace: str, name: str, enclave: str = "/") -> str:
    """Return the token of a node."""
    place = f"{PREFIX}/{domain}/{session}/{node_id}/{node_id}/{NODE}"
    return f"{place}/{_namespace(enclave)}/{_namespace(namespace)}/{mangle(name)}"


def endpoint_token(
    domain: int,
    session: str,
    node_id: int,
    endpoint_id: int,
    kind: str,
    node: tuple[str, str],
    endpoint: tuple[str, str, str],
    qos: WireQoS,
    enclave: str = "/",
) -> str:
    """Return the token of an endpoint.

    Args:
        domain: ROS domain id.
        session: session id in hexadecimal.
        node_id: number of the node in its session.
        endpoint_id: number of the endpoint in its session.
        kind: PUBLISHER, SUBSCRIPTION, SERVICE or CLIENT.
        node: namespace and name of the node.
        endpoint: fully qualified name, DDS type name and type hash.
        qos: profile announced.
        enclave: of the node.
    """
    name, type_name, type_hash = endpoint
    place = f"{PREFIX}/{domain}/{session}/{node_id}/{endpoint_id}/{kind}"
    return (
        f"{place}/{_namespace(enclave)}/{_namespace(node[0])}/{mangle(node[1])}"
        f"/{mangle(name)}/{type_name}/{type_hash}/{qos_text.encode(qos)}"
    )


def all_tokens(domain: int) -> str:
    """Return the key expression of all tokens of a domain."""
    return f"{PREFIX}/{domain}/**"


def server_tokens(domain: int, name_end: str, interface: str) -> str:
    """Return the key expression of the tokens of servers.

    Args:
        domain: ROS domain id.
        name_end: how the services' names end, e.g. `/estop`.
        interface: e.g. `std_srvs/srv/Trigger`.
    """
    anywhere = f"{PREFIX}/{domain}/*/*/*/{SERVICE}/*/*/*"
    return f"{anywhere}/$*{mangle(name_end)}/{dds_type(interface)}/**"


def parse_token(key: str) -> NodeRecord | EndpointRecord | None:
    """Return the record of a token; None: it cannot be parsed. Parts that newer peers add are ignored."""
    parts = key.split("/")
    if len(parts) < _NODE_PARTS or parts[0] != PREFIX:
        return None
    node = NodeRecord(parts[2], parts[3], _demangle(parts[7]), _demangle(parts[8]), _demangle(parts[6]))
    kind = parts[5]
    if kind == NODE:
        return node
    if kind not in _ENDPOINTS or len(parts) < _ENDPOINT_PARTS:
        return None
    try:
        qos = qos_text.decode(parts[12])
    except ValueError:
        return None
    return EndpointRecord(
        kind, node, _demangle(parts[9]), interface_name(parts[10]), parts[11], qos, gid_of(key)
    )
