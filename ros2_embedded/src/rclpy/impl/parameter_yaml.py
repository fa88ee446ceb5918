"""YAML as rcl reads the values of parameters, which differs from PyYAML's reading.

`1e-3` is a number and `y` is true; `1:30`, `2020-01-01`, `1_000` and `null` are texts; keys are texts always.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

_TRUE = frozenset(["Y", "y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"])
_FALSE = frozenset(["N", "n", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"])
_INTEGER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_FLOAT = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE)
_DOTTED = re.compile(r"[+-]?\.(inf|nan)", re.IGNORECASE)
_INT64 = range(-(2**63), 2**63)
_LONGEST_INTEGER = 100
"""Letters of an integer, more than any of 64 bits has; Python refuses to read some thousands of digits."""
_PLAIN = "!rcl/plain"


def plain_value(text: str) -> Any:
    """The value of a scalar without quotes: a bool, an integer, a float, or the text itself; None for ''."""
    if not text:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if len(text) <= _LONGEST_INTEGER and _INTEGER.fullmatch(text):
        digits = text.lstrip("+-")
        octal = digits.startswith("0") and digits.isdigit()
        number = int(digits, 8 if octal else 0) * (-1 if text.startswith("-") else 1)
        if number in _INT64:
            return number
    if _DOTTED.fullmatch(text):
        return float(text.replace(".", ""))
    if _FLOAT.fullmatch(text):
        value = float(text)
        too_big = math.isinf(value) and "inf" not in text.lower()
        return text if too_big else value
    return text


class ParameterLoader(yaml.SafeLoader):
    """Reads parameters; what is tagged as a text or has quotes is a text, other tags say nothing."""

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        """The tag of a node without one."""
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else "tag:yaml.org,2002:str"
        return str(super().resolve(kind, value, implicit))

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping by the texts of its keys."""
        return {str(key.value): self.construct_object(value, deep=True) for key, value in node.value}


def _construct(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Any:
    return plain_value(str(loader.construct_scalar(node)))


for _tag in (
    _PLAIN,
    *(f"tag:yaml.org,2002:{name}" for name in ("bool", "int", "float", "null", "timestamp")),
):
    ParameterLoader.add_constructor(_tag, _construct)


class ParameterDumper(yaml.SafeDumper):
    """Writes parameters so that rcl reads the same values: texts that look like others have quotes."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "'" if text and not isinstance(plain_value(text), str) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


ParameterDumper.add_representer(str, _represent_text)


def read(text: str) -> Any:
    """The value that a text stands for.

    Raises:
        yaml.YAMLError: the text is no YAML.
    """
    return yaml.load(text, Loader=ParameterLoader)
