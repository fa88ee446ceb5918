"""From a policy file to the access control list of a Zenoh session.

A policy names what each enclave may do; everything else is denied:

    robot:
      publish: [/camera/image_raw, /rosout]
      subscribe: [/cmd_vel]
      serve: [/robot/**]
      call: []

Every session holds the whole list and applies it to what it gets from and sends to each peer, whom it knows
by the common name of the certificate.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

Policy = dict[str, dict[str, list[str]]]
ACTIONS = ("publish", "subscribe", "serve", "call")
_GRAPH = ["liveliness_token", "declare_liveliness_subscriber", "liveliness_query"]
# What a latched publisher and its subscribers exchange beside the data: cached samples and who is there.
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
    """A policy file cannot be understood; the text names the place."""


def read_policy(path: Path) -> Policy:
    """The policy of a YAML file.

    Raises:
        PolicyError: unreadable, or not of the form above.
    """
    import yaml

    try:
        tree = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise PolicyError(f"policy {path}: {error}") from error
    if not isinstance(tree, dict):
        raise PolicyError(f"policy {path}: a mapping from enclave names to what they may do is expected")
    policy: Policy = {}
    for enclave, actions in tree.items():
        if not isinstance(actions, dict) or set(actions) - set(ACTIONS):
            raise PolicyError(f"policy {path}: {enclave!r} may have {', '.join(ACTIONS)}, it has {actions!r}")
        for action, names in actions.items():
            wrong = [name for name in names or [] if not isinstance(name, str) or not name.startswith("/")]
            if wrong:
                raise PolicyError(f"policy {path}: {enclave}.{action}: names start with '/', not {wrong}")
        policy[str(enclave)] = {action: list(actions.get(action) or []) for action in ACTIONS}
    return policy


def _keys(names: list[str]) -> list[str]:
    """The data keys of topics or services: domain, name, type, hash."""
    return [f"*/{name.strip('/')}/*/*" for name in names]


def _allow(rule: str, messages: list[str], flows: list[str], keys: list[str]) -> dict[str, Any]:
    """One rule of the list."""
    return {"id": rule, "messages": messages, "flows": flows, "permission": "allow", "key_exprs": keys}


def access_control(policy: Policy) -> dict[str, Any]:
    """The `access_control` section of a Zenoh configuration, which denies what the policy does not name."""
    rules = [_allow("graph", _GRAPH, ["ingress", "egress"], ["@ros2_lv/**"])]
    policies: list[dict[str, Any]] = []
    for enclave, actions in sorted(policy.items()):
        own = ["graph"]
        for action in ACTIONS:
            names = actions.get(action) or []
            cached = action in ("publish", "subscribe")
            parts = [(messages, [flow], _keys(names)) for messages, flow in _RULES[action]]
            if cached:
                parts.append((_CACHE, ["ingress", "egress"], [f"{key}/@adv/**" for key in _keys(names)]))
            for index, (messages, flows, keys) in enumerate(parts if names else []):
                rule = f"{enclave} {action} {index}"
                own.append(rule)
                rules.append(
                    {
                        "id": rule,
                        "messages": messages,
                        "flows": flows,
                        "permission": "allow",
                        "key_exprs": keys,
                    }
                )
        policies.append({"rules": own, "subjects": [enclave]})
    return {
        "enabled": True,
        "default_permission": "deny",
        "rules": rules,
        "subjects": [{"id": enclave, "cert_common_names": [enclave]} for enclave in sorted(policy)],
        "policies": policies,
    }
