"""Playbooks: written procedures, whose text passes every gate like the orders of an operator.

A playbook is an rSkill of kind `playbook`: a trigger, a markdown file, and the tools or skills it is made of. A
language model reads it as data. The offline planner follows it only where its steps are a plain list, and then each
step is planned like an order of its own: a playbook can neither name a skill that is not deployed nor lift a limit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from openral_core.errors import ManifestError
from openral_rskill.registry import RSkillPackage

MAX_BODY = 8_000
"""Most characters of a playbook's text."""
MAX_STEPS = 20
_ITEM = re.compile(r"^(?:\d{1,2}[.)]|[-*])\s+(?P<step>\S.*)$")
_HEADING = re.compile(r"^#{1,6}\s+steps\s*$", re.IGNORECASE)


@dataclass(frozen=True)
class Procedure:
    """The procedure of one playbook."""

    name: str
    """Manifest name, owner/rskill-x."""
    trigger: str
    """When to follow it, in words for a language model."""
    body: str
    """The markdown file."""
    orders: tuple[str, ...] = ()
    """Sentences of the operator that it answers."""
    failures: tuple[str, ...] = ()
    """Tasks in whose place its steps are tried when they have failed."""
    skills: tuple[str, ...] = ()
    """Manifest names of the skills that it needs."""
    done: str = ""
    """How to tell that it is finished, in words."""
    steps: tuple[str, ...] = ()
    """The items of its list of steps, in order; none: only a language model can follow it."""


def load_playbook(package: RSkillPackage) -> Procedure:
    """Read the text of an rSkill of kind playbook.

    Raises:
        ManifestError: the package is of another kind, or its text is missing, empty, too long or too many steps.
    """
    manifest = package.manifest
    section = manifest.playbook
    if section is None:
        raise ManifestError(
            f"{manifest.name} is of kind {manifest.kind}; list it under skills, not playbooks"
        )
    path = package.folder / section.body_uri.removeprefix("local://")
    where = f"{manifest.name}: playbook.body_uri {section.body_uri}"
    body = _read(path, where)
    steps = steps_of(body)
    limit = min(MAX_STEPS, section.max_steps)
    if len(steps) > limit:
        raise ManifestError(
            f"{where} has {len(steps)} steps, allowed are {limit}: raise max_steps, or split it"
        )
    if (section.orders or section.failures) and not steps:
        raise ManifestError(
            f"{where} has no plain list under a heading 'Steps'; write one, or take orders and failures out"
        )
    return Procedure(
        name=manifest.name,
        trigger=section.trigger,
        body=body,
        orders=section.orders,
        failures=section.failures,
        skills=tuple(tool for tool in section.composes_tools if "/" in tool),
        done=section.done_predicate,
        steps=steps,
    )


def steps_of(body: str) -> tuple[str, ...]:
    """Return the items of the list under the heading "Steps"; none if the section has other content, too."""
    lines = iter(body.splitlines())
    if not any(_HEADING.match(line.strip()) for line in lines):
        return ()
    steps = []
    for line in lines:
        if line.startswith("#"):
            break
        if not line.strip():
            continue
        item = _ITEM.match(line)
        if item is None:
            return ()  # a nested item, a continued line or prose: not for fixed rules to follow
        steps.append(item["step"].strip())
    return tuple(steps)


def _read(path: Path, where: str) -> str:
    try:
        body = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(
            f"{where} cannot be read: {error}; put a UTF-8 text file beside rskill.yaml"
        ) from None
    if not body.strip() or len(body) > MAX_BODY:
        raise ManifestError(f"{where} has {len(body)} characters, allowed are 1 to {MAX_BODY}")
    return body
