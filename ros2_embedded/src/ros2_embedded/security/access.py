"""Conversion of a policy file to the access control list of a Zenoh session.

A policy lists the rights of each enclave; everything else is denied:

    robot:
      publish: [/camera/image_raw, /rosout]
      subscribe: [/cmd_vel]
      serve: [/robot/**]
      call: []

A policy file of SROS2, whose name ends in `.xml`, is read as well. Every session has the whole list, and
applies it to messages from and to each peer, which it identifies by the common name of the certificate or by
the user name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import zenoh

from ros2_embedded.security.sros2_policy import Sros2PolicyError, read_sros2_policy

Policy = dict[str, dict[str, list[str]]]
ACTIONS = ("publish", "subscribe", "serve", "call")
_GRAPH = ["liveliness_token", "declare_liveliness_subscriber", "liveliness_query"]
# Messages between a latched publisher and its subscribers besides the data: cached samples and liveliness.
_CACHE = ["query", "reply", "declare_queryable", "put", "delete", "declare_subscriber", *_GRAPH]
# Zenoh messages by action of the peer, as (messages, flow seen from this side). A publisher's cache answers a
# query with replies under the key of the data.
_RULES: dict[str, list[tuple[list[str], str]]] = {
    "publish": [(["put", "delete", "reply"], "ingress"), (["declare_subscriber"], "egress")],
    "subscribe": [(["put", "delete", "reply"], "egress"), (["declare_subscriber"], "ingress")],
    "serve": [(["query"], "egress"), (["reply", "declare_queryable"], "ingress")],
    "call": [(["query"], "ingress"), (["reply", "declare_queryable"], "egress")],
}


class PolicyError(ValueError):
    """A policy file is invalid; the text names the place in it."""


def read_policy(path: Path) -> Policy:
    """Return the policy of a YAML file, or of an XML file of SROS2.

    Raises:
        PolicyError: the file cannot be read, or is not in the format above.
    """
    if path.suffix == ".xml":
        try:
            rights = read_sros2_policy(path)
        except Sros2PolicyError as error:
            raise PolicyError(str(error)) from error
    else:
        rights = _read_yaml(path)
    policy: Policy = {}
    for enclave, actions in rights.items():
        for action, names in actions.items():
            for name in names or []:
                _key(name, f"policy {path}: {enclave}.{action}")
        policy[str(enclave)] = {action: list(actions.get(action) or []) for action in ACTIONS}
    return policy


def _read_yaml(path: Path) -> dict[str, Any]:
    import yaml

    try:
        tree = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PolicyError(f"policy {path}: {error}") from error
    if not isinstance(tree, dict):
        raise PolicyError(f"policy {path}: a mapping from enclave names to what they may do is expected")
    for enclave, actions in tree.items():
        if not isinstance(actions, dict) or set(actions) - set(ACTIONS):
            raise PolicyError(f"policy {path}: {enclave!r} may have {', '.join(ACTIONS)}, it has {actions!r}")
        for action, names in actions.items():
            if not isinstance(names, (list, type(None))):
                raise PolicyError(f"policy {path}: {enclave}.{action}: a list of names is expected")
    return tree


def _key(name: object, where: str, suffix: str = "") -> str:
    """Return the key expression of a topic or service (domain, name, type, hash) in Zenoh's canonical form.

    Raises:
        PolicyError: the name is not a valid one of the graph.
    """
    if not isinstance(name, str) or not name.startswith("/"):
        raise PolicyError(f"{where}: names start with '/', not {name!r}")
    try:
        # The canonical form has `**` after parts that are `*`, as in */ns/*/*/**.
        return str(zenoh.KeyExpr.autocanonize(f"*/{name[1:]}/*/*{suffix}"))
    except zenoh.ZError as error:
        raise PolicyError(
            f"{where}: {name!r} is no name: '/' between parts, '*' for one whole part, '**' for several"
        ) from error


def access_control(policy: Policy) -> dict[str, Any]:
    """Return an `access_control` section of a Zenoh configuration, which denies all but a policy's rights.

    Raises:
        PolicyError: a name of the policy is invalid.
    """
    rules = [_allow("graph", _GRAPH, ["ingress", "egress"], ["@ros2_lv/**"])]
    policies: list[dict[str, Any]] = []
    for enclave, actions in sorted(policy.items()):
        own = [
            _allow(f"{enclave} {action} {index}", *part)
            for action in ACTIONS
            for index, part in enumerate(_rights(enclave, action, actions.get(action) or []))
        ]
        rules += own
        names = ["graph", *(rule["id"] for rule in own)]
        policies.append({"rules": names, "subjects": [enclave, f"{enclave} user"]})
    subjects = [
        subject
        for enclave in sorted(policy)
        for subject in (
            {"id": enclave, "cert_common_names": [enclave]},
            {"id": f"{enclave} user", "usernames": [enclave]},
        )
    ]
    return {
        "enabled": True,
        "default_permission": "deny",
        "rules": rules,
        "subjects": subjects,
        "policies": policies,
    }


def _rights(enclave: str, action: str, names: list[str]) -> list[tuple[list[str], list[str], list[str]]]:
    """Return the rules of one line of a policy, as (messages, flows, keys)."""
    if not names:
        return []
    where = f"{enclave}.{action}"
    keys = [_key(name, where) for name in names]
    parts = [(messages, [flow], keys) for messages, flow in _RULES[action]]
    if action in ("publish", "subscribe"):
        cached = [_key(name, where, "/@adv/**") for name in names]
        parts.append((_CACHE, ["ingress", "egress"], cached))
    return parts


def _allow(rule: str, messages: list[str], flows: list[str], keys: list[str]) -> dict[str, Any]:
    """Return one rule of the list."""
    return {"id": rule, "messages": messages, "flows": flows, "permission": "allow", "key_exprs": keys}
