"""The schema of `rskill.yaml` as JSON Schema (2020-12), for editors and for other programs.

Descriptions are the docstrings of the fields; the rules of the kinds are conditions (`if`, `then`). Rules over several
fields that JSON Schema cannot say are checked by `openral rskill check`.
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from openral_core.manifest.kind_rules import KIND_RULES, KindRule
from openral_core.manifest.model import RSkillManifest
from openral_core.schema import model_in

DIALECT = GenerateJsonSchema.schema_dialect


def manifest_schema() -> dict[str, Any]:
    """Return the JSON Schema of a manifest."""
    _, found = models_json_schema([(RSkillManifest, "validation")])
    definitions: dict[str, Any] = found["$defs"]
    for model in _models(RSkillManifest):
        texts = _field_docs(model)
        for name, text in texts.items():
            definitions[model.__name__]["properties"][name].setdefault("description", text)
    top = definitions.pop(RSkillManifest.__name__)
    conditions = [_condition(kind, rule) for kind, rule in KIND_RULES.items()]
    return {"$schema": DIALECT, **top, "title": "rskill.yaml", "allOf": conditions, "$defs": definitions}


def _condition(kind: str, rule: KindRule) -> dict[str, Any]:
    properties: dict[str, Any] = {name: {"enum": [None, []]} for name in rule.refuses}
    properties |= {name: {"const": _plain(value)} for name, value in rule.fixed.items()}
    return {
        "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
        "then": {"required": list(rule.needs), "properties": properties},
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _models(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Return a model and all models below it."""
    found, todo = [], [model]
    while todo:
        current = todo.pop()
        if current not in found:
            found.append(current)
            below = (model_in(field.annotation) for field in current.model_fields.values())
            todo += [item for item in below if item is not None]
    return found


def _field_docs(model: type[BaseModel]) -> dict[str, str]:
    """Return field -> docstring, read from the source: Python itself keeps none for attributes."""
    body = ast.parse(inspect.getsource(model)).body[0]
    assert isinstance(body, ast.ClassDef)
    texts: dict[str, str] = {}
    for field, after in zip(body.body, body.body[1:], strict=False):
        is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text:
            texts[field.target.id] = " ".join(str(after.value.value).split())  # type: ignore[attr-defined]
    return texts
