"""Lookup of a scene's task by an operator's words, for deployments without a planner."""

from __future__ import annotations

import logging

from openral_core.errors import OpenralError
from openral_core.scene import DeployScene
from openral_rskill.registry import resolve

_LOG = logging.getLogger(__name__)


def task_words(scene: DeployScene) -> dict[str, str]:
    """Return the simulator's task of each example phrase, in lower case, of the scene's skills.

    Phrases of several tasks and tasks that are not in the scene are left out.
    """
    names = {task.rsplit("/", 1)[-1] for task in scene.task_ids}
    found: dict[str, set[str]] = {}
    for reference in scene.skills:
        try:
            examples = resolve(reference).manifest.examples
        except OpenralError as error:
            _LOG.warning("which task an operator's words mean is not known: %s", error)
            continue
        for example in examples:
            for phrase in example.phrases:
                found.setdefault(phrase.casefold(), set()).add(example.task.rsplit("/", 1)[-1])
    return {words: min(tasks) for words, tasks in found.items() if len(tasks) == 1 and tasks <= names}
