"""The commands and verbs of `ros2`, each with its line of help."""

from __future__ import annotations

ALIASES = {"wtf": "doctor"}
"""Other words for commands."""

NOT_IN_HELP = ("extension_points", "extensions")
"""Commands about `ros2` itself, which its help does not list, as in ROS 2."""

COMMANDS: dict[str, tuple[str, dict[str, str]]] = {
    "action": (
        "Various action related sub-commands",
        {
            "find": "Find actions from type",
            "info": "Print information about an action",
            "list": "Output a list of action names",
            "send_goal": "Send an action goal",
            "type": "Print an action's type",
        },
    ),
    "bag": (
        "Various rosbag related sub-commands",
        {
            "burst": "Publish the messages of a bag at once",
            "convert": "Given an input bag, write out a new bag with different settings",
            "info": "Print information about a bag to the screen",
            "list": "Print what reads, writes and compresses bags",
            "play": "Play back ROS data from a bag",
            "record": "Record ROS data to a bag",
            "reindex": "Reconstruct the metadata of a bag whose recording was killed",
        },
    ),
    "component": (
        "Various component related sub-commands",
        {
            "list": "Output a list of running containers and components",
            "load": "Load a component into a container node",
            "standalone": "Run a component into its own standalone container node",
            "types": "Output a list of components registered in the ament index",
            "unload": "Unload a component from a container node",
        },
    ),
    "daemon": (
        "Various daemon related sub-commands",
        {
            "start": "Say why no daemon needs to be started",
            "status": "Output the status of the daemon",
            "stop": "Say why there is no daemon to stop",
        },
    ),
    "doctor": ("Check the ROS setup", {"": "Check the ROS setup"}),
    "extension_points": ("List extension points", {"": "List extension points"}),
    "extensions": ("List extensions", {"": "List extensions"}),
    "interface": (
        "Show information about ROS interfaces",
        {
            "list": "List all interface types available",
            "package": "Output a list of available interface types within one package",
            "packages": "Output a list of packages that provide interfaces",
            "proto": "Output an interface prototype",
            "show": "Output the interface definition",
        },
    ),
    "launch": ("Run a launch file", {"": "Run a launch file"}),
    "lifecycle": (
        "Various lifecycle related sub-commands",
        {
            "get": "Get lifecycle state for one or more nodes",
            "list": "Output a list of available transitions",
            "nodes": "Output a list of nodes with lifecycle",
            "set": "Trigger lifecycle state transition",
        },
    ),
    "multicast": (
        "Various multicast related sub-commands",
        {"receive": "Receive a single UDP multicast packet", "send": "Send a single UDP multicast packet"},
    ),
    "node": (
        "Various node related sub-commands",
        {"info": "Output information about a node", "list": "Output a list of available nodes"},
    ),
    "param": (
        "Various param related sub-commands",
        {
            "delete": "Delete parameter",
            "describe": "Show descriptive information about declared parameters",
            "dump": "Show all of the parameters of a node in a YAML file format",
            "get": "Get parameter",
            "list": "Output a list of available parameters",
            "load": "Load parameter file for a node",
            "set": "Set parameter",
        },
    ),
    "pkg": (
        "Various package related sub-commands",
        {
            "create": "Create a new ROS 2 package",
            "executables": "Output a list of package specific executables",
            "list": "Output a list of available packages",
            "prefix": "Output the prefix path of a package",
            "xml": "Output the XML of the package manifest or a specific tag",
        },
    ),
    "run": ("Run a package specific executable", {"": "Run a package specific executable"}),
    "security": (
        "Various security related sub-commands",
        {
            "create_enclave": "Create an enclave in a keystore",
            "create_keystore": "Create a keystore",
            "create_permission": "Give an enclave the rights of a policy",
            "generate_artifacts": "Create a keystore, enclaves and their rights",
            "generate_policy": "Write a policy of what the nodes of the graph do",
            "list_enclaves": "List the enclaves of a keystore",
        },
    ),
    "service": (
        "Various service related sub-commands",
        {
            "call": "Call a service",
            "echo": "Echo a service",
            "find": "Output a list of services of a given type",
            "info": "Output information about a service",
            "list": "Output a list of available services",
            "type": "Output a service's type",
        },
    ),
    "test": ("Run a file of launch tests", {"": "Run a file of launch tests"}),
    "topic": (
        "Various topic related sub-commands",
        {
            "bw": "Display bandwidth used by topic",
            "delay": "Display delay of topic from timestamp in header",
            "echo": "Output messages from a topic",
            "find": "Output a list of available topics of a given type",
            "hz": "Print the average publishing rate to screen",
            "info": "Print information about a topic",
            "list": "Output a list of available topics",
            "pub": "Publish a message to a topic",
            "type": "Print a topic's type",
        },
    ),
}
"""Help line and verbs of each command; a command without verbs has the one verb ''."""
