"""Common parts of all YAML schemas: a strict base model, field types, and faults in one line each."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from openral_core.errors import ManifestError, nearest
from openral_core.files.yaml_document import Document, Key

T = TypeVar("T")
ModelT = TypeVar("ModelT", bound=BaseModel)

Many = Annotated[tuple[T, ...], Field(strict=False)]
"""A tuple that may be written as a list."""
Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A fraction from 0 to 1."""
Count = Annotated[int, Field(gt=0)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Vector3 = Annotated[tuple[Finite, Finite, Finite], Field(strict=False)]
Interval = Annotated[tuple[Finite, Finite], Field(strict=False)]
"""[low, high]; validators of the models require low < high where it matters."""


class Schema(BaseModel):
    """Base of all schemas: without coercion, without unknown keys, and immutable.

    A validator is built when it is first used, since a program imports many more schemas than it uses.
    """

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, protected_namespaces=(), defer_build=True
    )


class InitRange(Schema):
    """A range of numbered initial states of a simulator's tasks."""

    first: Annotated[int, Field(ge=0)]
    """Number of the first state."""
    count: Count
    """Number of states."""

    def ids(self) -> range:
        """Return the numbers of the states."""
        return range(self.first, self.first + self.count)

    def overlaps(self, other: InitRange) -> bool:
        """Return whether a state is in both ranges, which may be huge."""
        return max(self.first, other.first) < min(self.ids().stop, other.ids().stop)

    def covering(self, other: InitRange | None) -> InitRange:
        """Return the least range with all states of both, and those between them; None: this range."""
        if other is None:
            return self
        first = min(self.first, other.first)
        return InitRange(first=first, count=max(self.ids().stop, other.ids().stop) - first)

    def __str__(self) -> str:
        return f"{self.first} to {self.first + self.count - 1}"


class Fault(NamedTuple):
    """A fault that a rule over several fields of a model has found."""

    key: str
    """The field to be reported; dots lead into nested fields."""
    what: str
    """What is wrong."""
    fix: str
    """What to do about it."""


def raise_faults(faults: Sequence[Fault]) -> None:
    """Raise one error with all faults, inside a pydantic validator; without faults do nothing."""
    if faults:
        text = "; ".join(f"{fault.key}: {fault.what}, {fault.fix}" for fault in faults)
        # pydantic would interpret braces as fields of a template.
        template = text.replace("{", "(").replace("}", ")")
        raise PydanticCustomError("openral", template, {"faults": tuple(faults)})


def validate(model: type[ModelT], document: Document) -> ModelT:
    """Validate a document against a schema.

    Raises:
        ManifestError: one line for each fault, `file:line: key: what is wrong; fix`, in the order of the file.
    """
    if not isinstance(document.data, dict):
        found = "empty" if document.data is None else f"a {_kind_of(document.data)}"
        raise ManifestError(
            document.fault((), f"{found}, needed keys with values", "write `key: value` lines")
        )
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        raise_manifest_error(model, document, error)


def raise_manifest_error(model: type[BaseModel], document: Document, error: ValidationError) -> NoReturn:
    """Turn pydantic's report into a ManifestError with file, line and fix."""
    reports: dict[str, int] = {}
    for details in error.errors(include_url=False):
        for key, what, fix in _explain(model, details):
            reports[document.fault(key, _one_line(what), _one_line(fix))] = document.line(key)
    raise ManifestError("\n".join(sorted(reports, key=lambda text: reports[text]))) from error


def faults_of(model: type[BaseModel], data: dict[str, Any]) -> list[Fault]:
    """Return the faults of values under a schema, for a rule over the field that holds them."""
    try:
        model.model_validate(data)
    except ValidationError as error:
        return [
            Fault(".".join(str(part) for part in key), what, fix)
            for details in error.errors(include_url=False)
            for key, what, fix in _explain(model, details)
        ]
    return []


def inside(folder: Path, relative: str) -> Path | None:
    """Return `folder/relative` with links resolved, or None if that is not inside `folder`."""
    if "\0" in relative or "\\" in relative:
        return None
    root = folder.resolve()
    path = (root / relative).resolve()
    return path if path.is_relative_to(root) and path != root else None


_TEXT = "constrained-str"
_NO_KEYS = ("function-", "tuple[", "dict[", _TEXT)
"""Prefixes of the parts of a pydantic location that name a branch of a union and not a key."""


def _explain(model: type[BaseModel], details: ErrorDetails) -> list[tuple[Key, str, str]]:
    branch = str(details["loc"][-1]) if details["loc"] else ""
    if branch.startswith(_TEXT) and isinstance(details["input"], dict):
        return []  # the union's other branch, keys with values, was written and has its own fault
    key: Key = tuple(part for part in details["loc"] if not str(part).startswith(_NO_KEYS))
    context = details.get("ctx", {})
    kind = details["type"]
    if kind == "openral":
        faults: Sequence[Fault] = context["faults"]
        return [((*key, *_parts(fault.key)), fault.what, fault.fix) for fault in faults]
    if kind == "missing":
        return [(key, "is missing", "add it")]
    if kind == "extra_forbidden":
        return [(key, "unknown key", _suggest(str(key[-1]), _known_keys(model, key[:-1])))]
    if kind == "literal_error":
        known = [word.strip("'") for word in str(context["expected"]).replace(" or ", ", ").split(", ")]
        if not isinstance(details["input"], str) and str(details["input"]) in known:
            return [(key, f"{_shown(details['input'])} is a number, needed text", "put it in quotes")]
        return [
            (key, f"{_shown(details['input'])} is not known here", _suggest(str(details["input"]), known))
        ]
    if kind == "too_short" and isinstance(details["input"], (list, tuple)):
        if len(details["input"]) > context["actual_length"]:
            return []  # pydantic does not count invalid entries, which have their own faults
        what = f"has {context['actual_length']} entries, needed at least {context['min_length']}"
        return [(key, what, "add to the list")]
    if kind in ("model_type", "dict_type"):
        keys = ", ".join(_known_keys(model, key))
        fix = f"write keys with values{': ' * bool(keys)}{keys}"
        return [(key, f"{_shown(details['input'])}: needed keys with values", fix)]
    message = details["msg"].removeprefix("Value error, ")
    if kind == "value_error" and ";" in message:
        what, fix = message.split(";", 1)
        return [(key, what, fix.strip())]
    if kind == "tuple_type" and not isinstance(details["input"], (dict, type(None))):
        found = _shown(details["input"])
        return [(key, f"{found} is not a list", f"write [{str(details['input'])[:60]}]")]
    needed = message[:1].lower() + message[1:]
    fix = f"write {_needed(kind, context)}"
    return [(key, f"{_shown(details['input'])}: {needed}", fix)]


def _parts(dots: str) -> Key:
    """Split `sensors.0.name` into its keys and list indices."""
    return tuple(int(part) if part.isascii() and part.isdecimal() else part for part in dots.split("."))


_NEEDED = {
    "string_type": "text, in quotes if need be",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "tuple_type": "a list: [a, b]",
    "string_pattern_mismatch": "it in that form",
}


_BOUNDS = {
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "a number of {ge:g} or more",
    "less_than": "a number below {lt:g}",
    "less_than_equal": "at most {le:g}",
}


def _needed(kind: str, context: Mapping[str, Any]) -> str:
    if kind in _BOUNDS:
        return _BOUNDS[kind].format(**context)
    return _NEEDED.get(kind, "a value that fits")


def _suggest(word: str, known: Sequence[str]) -> str:
    match = nearest(word, known)
    if match:
        return f"did you mean '{match}'?"
    return f"use one of {', '.join(known)}" if known else "remove it"


def _known_keys(model: type[BaseModel], key: Key) -> list[str]:
    """Return the field names of the model at `key`."""
    current: type[BaseModel] | None = model
    for part in key:
        if isinstance(part, int) or current is None:
            continue
        field = current.model_fields.get(part)
        current = model_in(field.annotation) if field else None
    return list(current.model_fields) if current else []


def model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model X in `X`, `X | None`, `tuple[X, ...]` or `Annotated[X, ...]`; None: there is none."""
    if isinstance(annotation, type) and not get_origin(annotation) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Union, types.UnionType, tuple, dict, Annotated):
        return next((found for item in get_args(annotation) if (found := model_in(item))), None)
    return None


def _kind_of(value: Any) -> str:
    names = {list: "list", dict: "mapping", str: "text", bool: "boolean", int: "number", float: "number"}
    return names.get(type(value), type(value).__name__)


def _shown(value: Any) -> str:
    """Return a short text for a value; of a container only its kind."""
    return f"a {_kind_of(value)}" if isinstance(value, (list, dict)) else repr(value)[:60]


def _one_line(text: str) -> str:
    return " ".join(text.split())
