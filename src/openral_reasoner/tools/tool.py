"""One tool of an agent: its name, its arguments, the request that it makes, and whether it moves anything.

How a tool is offered is decided elsewhere: `openral_reasoner.llm.tools` makes tools of a language model from the table,
`openral_reasoner.mcp` those of an MCP server.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from openral_core.errors import ContractError
from openral_core.goal_params import check_goal_params
from openral_reasoner.mission.agent_requests import Reply, Request

MAX_ARGUMENTS = 16_384
"""Characters of the arguments of one call as JSON."""
_WHITE = "\n\t"

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Tool:
    """One entry of the table."""

    name: str
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of the arguments, an object."""
    ask: Callable[[Arguments], Request | Reply]
    """Returns the request of checked arguments, or the reply where no request is needed."""
    moves: bool = False
    """It may move the arm, or change what the arm will do."""
    reads: bool = False
    """It changes nothing."""
    stops: bool = False
    """It ends all motion, whatever is wrong with its arguments."""
    gate_judges: bool = False
    """The values are checked by the mission's gate, which also logs its refusals; here only their types are."""

    def refusal(self, arguments: Arguments) -> str:
        """Return why the arguments are refused, in words for the agent; empty: they are not."""
        try:
            check_goal_params(
                self.name, _types_only(self.schema) if self.gate_judges else self.schema, arguments
            )
        except ContractError as error:
            return f"refused: {str(error).replace(': params_json', '', 1)}"
        if self.gate_judges:
            return ""
        odd = next(filter(None, (_odd(name, value) for name, value in arguments.items())), "")
        return f"refused: {self.name}: {odd}" if odd else ""


def parse_arguments(text: str) -> Arguments | str:
    """Return the arguments of a call from JSON, or why they are refused; an empty text: no arguments."""
    if len(text) > MAX_ARGUMENTS:
        return f"refused: the arguments have {len(text)} characters; send at most {MAX_ARGUMENTS}"
    try:
        parsed = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return "refused: the arguments are no JSON"
    return parsed if isinstance(parsed, dict) else "refused: the arguments are no JSON object"


def _types_only(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = {name: {"type": each["type"]} for name, each in schema["properties"].items()}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _odd(name: str, value: object) -> str:
    """Return what is wrong with the characters of the texts in a value; empty: nothing."""
    if isinstance(value, (list, tuple)):
        return next(filter(None, (_odd(name, each) for each in value)), "")
    text = value if isinstance(value, str) else ""
    odd = next((c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Cn") and c not in _WHITE), None)
    return f"{name} holds the control character U+{ord(odd):04X}; send printable text" if odd else ""
