"""Arguments that are a plain value or a substitution that yields one: truth values and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..substitution_failure import SubstitutionFailure
from .substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext

SomeBool = bool | SomeSubstitutionsType
SomeFloat = float | int | SomeSubstitutionsType

# What YAML 1.1 takes for a truth value, and 1 and 0.
_TRUE = {"true", "1", "yes", "on", "y"}
_FALSE = {"false", "0", "no", "off", "n"}


def parse_bool(text: str, what: str = "value") -> bool:
    """Return the truth value that `text` spells: true, yes, on or 1; false, no, off or 0; in any case.

    Raises SubstitutionFailure, naming `what`, for other text.
    """
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise SubstitutionFailure(f"{what} is {text!r}; expected 'true' or 'false'")


def as_substitutions(value: bool | float | SomeSubstitutionsType) -> list[Substitution]:
    """Return a plain or substituted argument as substitutions."""
    plain = str(value) if isinstance(value, (bool, int, float)) else value
    return normalize_to_list_of_substitutions(plain)


def perform_bool(context: LaunchContext, value: SomeBool, what: str = "value") -> bool:
    """Return a plain or substituted boolean argument as a bool."""
    if isinstance(value, bool):
        return value
    return parse_bool(perform_substitutions(context, normalize_to_list_of_substitutions(value)), what)


def perform_float(context: LaunchContext, value: SomeFloat, what: str = "value") -> float:
    """Return a plain or substituted number as a float; raise SubstitutionFailure when it is none."""
    if isinstance(value, (int, float)):
        return float(value)
    text = perform_substitutions(context, normalize_to_list_of_substitutions(value))
    try:
        return float(text)
    except ValueError:
        raise SubstitutionFailure(f"{what} is {text!r}; expected a number") from None


def parse_yaml_value(text: str) -> Any:
    """Return what `text` means read as YAML: a number, a bool, a list; text that is no YAML stays text."""
    import yaml  # here, because most launches get by without it

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text
