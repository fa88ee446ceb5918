"""Replaces orders that a playbook answers by its steps, which another planner then plans like any order."""

from __future__ import annotations

import re
from dataclasses import replace

from openral_reasoner.palette import Palette
from openral_reasoner.planner import Planner, Proposal
from openral_reasoner.playbook_trigger import means_one_of

_CLAUSE = re.compile(r"\s*(?:[;\n]|,?\s*\b(?:and\s+)?then\b)\s*", re.IGNORECASE)


class PlaybookPlanner:
    """A planner in front of another one. Steps are not looked up in playbooks again, so no two can call each other."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner

    def plan(self, sentence: str, palette: Palette) -> Proposal:
        """Return a plan for the whole sentence, a question about it, or why there is neither."""
        clauses = [step for clause in _CLAUSE.split(sentence) for step in _expand(clause, palette)]
        expanded = sentence if clauses == _CLAUSE.split(sentence) else "; then ".join(clauses)
        return self._planner.plan(expanded, replace(palette, playbooks=(), recoveries=()))


def _expand(clause: str, palette: Palette) -> tuple[str, ...]:
    for playbook in palette.playbooks:
        if playbook.steps and means_one_of(clause, playbook.orders):
            return playbook.steps
    for playbook in palette.recoveries:
        if playbook.steps and means_one_of(clause, playbook.failures):
            return playbook.steps
    return (clause,)
