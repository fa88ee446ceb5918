"""Generates the wording of an operator's order: noun phrases, states, polite frames, and accompanying remarks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import yaml

from openral_training.planner.deployments import (
    COLOURS,
    SIZES,
    InventedTask,
    Lexicon,
    Thing,
    phrase,
    without_place,
)
from openral_training.planner.inflection import participle

FRAMES: dict[str, list[str]] = yaml.safe_load(Path(__file__).with_name("frames.yaml").read_text())
"""Tables of sentence frames, for orders with accompanying remarks and for other speech acts; see the file."""


class Phrasing:
    """Generates orders for one deployment; the result depends on the random generator alone."""

    def __init__(self, rng: random.Random, lexicon: Lexicon, tasks: Sequence[InventedTask]) -> None:
        self._rng, self._lexicon, self._tasks = rng, lexicon, tasks
        self._placeless = False
        """Whether the utterance leaves out the place."""

    def _filled(self, text: str, task: InventedTask | None = None) -> str:
        """Fill the gaps of a frame: {o} with the object of the task (None: of a random one), the others at random."""
        rng = self._rng
        task = task or rng.choice(self._tasks)
        while "{n}" in text:
            thing = self._lexicon.thing(rng, tuple(k for k, things in self._lexicon.things.items() if things))
            text = text.replace("{n}", thing.said(rng), 1)
        text = text.replace("{o}", self._np(task.thing)).replace("{who}", self._pick("persons"))
        return text.replace("{adj}", rng.choice(FRAMES["adjectives"]))

    def _pick(self, table: str) -> str:
        return self._rng.choice(FRAMES[table])

    def _polite(self, base: str) -> str:
        """Return a polite order of a phrase that begins with a verb."""
        verb, _, rest = base.partition(" ")
        return self._pick("polite").replace("{b}", base).replace("{p}", f"{participle(verb)} {rest}")

    def _np(self, thing: Thing, mark: bool = True, adjective: float = 0.08) -> str:
        """Return a noun phrase: determiner, adjective with the probability `adjective`, modifier, object."""
        rng = self._rng
        word = thing.said(rng, 0.25, mark)
        if not thing.mark and rng.random() < adjective:
            word = f"{rng.choice((*COLOURS, *SIZES, 'old', 'new', 'stupid', 'nice', 'damn', 'whole'))} {word}"
        return f"{rng.choice(FRAMES['determiners'])} {word}".strip()

    def _said(
        self, task: InventedTask, form: str = "base", thing: str | None = None, to: str | None = None
    ) -> str:
        """Return a random phrase for a task; `thing` and `to` replace the noun phrases of object and place."""
        pattern = self._rng.choice(task.action.say)
        where = to if to is not None else self._np(task.to, adjective=0.03) if task.to else ""
        thing = self._np(task.thing) if thing is None else thing
        return without_place(self._rng, pattern, thing, where, float(self._placeless), form)

    def _past(self, task: InventedTask) -> str:
        """Return a phrase for the task in the past: "closed the drawer"."""
        verb, _, rest = self._said(task).partition(" ")
        return f"{participle(verb)} {rest}"

    def _state(self, task: InventedTask) -> str:
        """Return a state that the task results in, or a participle phrase."""
        where = self._np(task.to, adjective=0.03) if task.to else ""
        states = [state for state in task.action.states if not self._placeless or "{d}" not in state]
        if states and self._rng.random() < 0.65:
            return self._rng.choice(states).replace("{d}", where)
        pattern = self._rng.choice([p for p in task.action.say if " {o}" in f" {p}" and " it " not in p])
        return without_place(self._rng, pattern, "", where, float(self._placeless), "pp")

    def _core(self, task: InventedTask) -> str:
        """Return an order of a task without opener, reason and closer."""
        rng, roll = self._rng, self._rng.random()
        placed = [state for state in task.action.states if state.split()[0] in ("in", "on", "inside", "at")]
        if task.to and placed and rng.random() < 0.15:
            where = self._np(task.to, adjective=0.04)
            text = self._pick("placed").replace("{s}", rng.choice(placed)).replace("{d}", where)
            return text.replace("{o}", self._np(task.thing)).replace("{n}", task.thing.said(rng))
        if roll < 0.52:
            text = self._polite(self._said(task))
            return f"{text} {rng.choice(FRAMES['adjuncts'])}" if rng.random() < 0.12 else text
        if roll < 0.60:
            return self._pick("gerund").replace("{g}", self._said(task, "ing"))
        if roll < 0.80:
            return self._filled(self._pick("wished"), task).replace("{s}", self._state(task))
        if roll < 0.86:
            return self._filled(self._pick("stated"), task).replace("{s}", self._state(task))
        if roll < 0.95:
            pronoun = self._said(task, thing="it")
            text = self._filled(self._pick("topic").replace("{i}", pronoun), task)
            opposite = self._lexicon.actions.get(task.action.opposite)
            if opposite and opposite.states and rng.random() < 0.4:
                where = self._np(task.to) if task.to else ""
                state = rng.choice(opposite.states).replace("{d}", where)
                statement = self._pick("told").replace("{o}", self._np(task.thing)).replace("{s}", state)
                text = f"{statement}{rng.choice((', ', ' so ', '. ', ', so ', ' and '))}{pronoun}"
            return text
        if roll < 0.965 and (gerunds := self._gerunds(task)):
            return self._pick("needed").replace("{o}", self._np(task.thing)).replace("{gs}", gerunds)
        opposite = self._lexicon.actions.get(task.action.opposite)
        if roll < 0.985 and opposite and opposite.states:
            was = rng.choice(opposite.states).replace("{d}", self._np(task.to) if task.to else "")
            text = self._pick("undone").replace("{o}", self._np(task.thing))
            return text.replace("{x}", was).replace("{s}", self._state(task))
        return self._said(task).replace("the ", "")

    def _gerunds(self, task: InventedTask) -> str:
        """Return a gerund phrase, as in "it needs wiping down"; empty: no phrase of the task has this form."""
        plain = [say for say in task.action.say if " it " not in say and "{d}" not in say]
        fitting = [say for say in plain if say.endswith("{o}")]
        return phrase(self._rng.choice(fitting), "", form="ing").strip() if fitting else ""

    def _framed(self, core: str) -> str:
        """Return an order with opener and closer, and at random a reason, a purpose or a remark."""
        rng, roll = self._rng, self._rng.random()
        reason = self._filled(self._pick("reasons" if rng.random() < 0.4 else "scenes"))
        if rng.random() < 0.25 and self._tasks:
            other = rng.choice(self._tasks)
            state = self._state(other)
            reason = self._pick("told").replace("{o}", self._np(other.thing)).replace("{s}", state)
        if roll < 0.17:
            core = f"{reason}{rng.choice((', ', ' so ', '. ', ', so ', ' - ', '; '))}{core}"
        elif roll < 0.22:
            core = f"{core}{rng.choice((', ', '. ', ' because ', ', ', ' since ', ' - '))}{reason}"
        elif roll < 0.27:
            core = f"{core}{rng.choice((' ', ', '))}{self._filled(self._pick('purposes'))}"
        elif roll < 0.30:
            core = f"{self._pick('talk')}{rng.choice((', ', '. '))}{core}"
        elif roll < 0.32:
            core = f"{core}{rng.choice((', ', '. '))}{self._pick('talk')}"
        return f"{rng.choice(FRAMES['openers'])}{core}{rng.choice(FRAMES['closers'])}"


def mistyped(rng: random.Random, text: str) -> str:
    """Return a text with one typing error inside a word: a letter swapped, left out, doubled or replaced."""
    spots = [i for i in range(1, len(text) - 1) if text[i - 1 : i + 2].isalpha()]
    if not spots:
        return text
    at = rng.choice(spots)
    letter = rng.choice("abcdefghijklmnopqrstuvwxyz")
    return rng.choice(
        (
            text[:at] + text[at + 1] + text[at] + text[at + 2 :],
            text[:at] + text[at + 1 :],
            text[:at] + text[at] + text[at:],
            text[:at] + letter + text[at + 1 :],
        )
    )
