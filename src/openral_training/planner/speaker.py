"""Generates what an operator may say in a deployment: orders, sentences that resemble orders, and other talk."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from openral_training.planner.deployments import InventedTask, Lexicon, Thing, phrase
from openral_training.planner.labelled_utterance import (
    FORBIDDEN,
    FRAGMENT,
    IGNORED,
    ORDER,
    QUESTION,
    STATEMENT,
    UNREAL,
    Utterance,
)
from openral_training.planner.near_orders import NearOrders, names_of
from openral_training.planner.phrasing import FRAMES, mistyped


def order_words(lexicon: Lexicon) -> frozenset[str]:
    """Return the words of all phrases for actions and of the frames of orders; typing errors are corrected to these."""
    said = [text for action in lexicon.actions.values() for text in (*action.say, *action.states)]
    framed = [
        entry
        for name in ("polite", "gerund", "wished", "stated", "topic", "forbid")
        for entry in FRAMES[name]
    ]
    forms = [
        phrase(text, "", form=form)
        for action in lexicon.actions.values()
        for text in action.say
        for form in ("ing", "pp")
    ]
    return frozenset(re.findall(r"(?<!{)\b[a-z]{3,}\b", " ".join((*said, *framed, *forms))))


class Speaker(NearOrders):
    """Generates labelled utterances for one deployment; the result depends on the random generator alone."""

    def utterance(self) -> Utterance:
        """Draw one utterance."""
        kinds: tuple[tuple[float, Callable[[], Utterance]], ...] = (
            (0.38, self._order),
            (0.20, self._impossible),
            (0.05, self._part),
            (0.06, self._forbidden),
            (0.05, self._question),
            (0.05, self._told),
            (0.09, self._unreal),
            (0.03, self._partly),
            (0.08, self._several),
            (0.04, self._talk),
            (0.06, self._vague),
            (0.05, self._remark_and_fragment),
        )
        self._placeless = self._rng.random() < 0.2
        chosen = self._rng.choices([make for _, make in kinds], [weight for weight, _ in kinds])[0]()
        text = " ".join(chosen.text.split())
        for _ in range(self._rng.choice((0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2))):
            text = mistyped(self._rng, text)
        return replace(chosen, text=text)

    def _labels(self, task: InventedTask, marked: bool = True) -> tuple[float, ...]:
        """Return the label of each task: 1 for the ordered one, `IGNORED` for those that may mean the same, else 0.

        Args:
            task: the ordered task.
            marked: whether the sentence has the modifier of the object; without it several tasks get 1.
        """
        labels = []
        for other in self._tasks:
            same = other.thing.names == task.thing.names
            rival = same and other.action is task.action and names_of(other.to) == names_of(task.to)
            elsewhere = same and other.action is task.action and self._placeless
            if other is task or (elsewhere and other.thing.mark == task.thing.mark):
                labels.append(1.0)
            elif rival and not marked:
                labels.append(1.0)  # either may be meant; the planner asks back since their scores are close
            elif same and self._lexicon.near(other.action, task.action):
                labels.append(IGNORED)
            else:
                labels.append(0.0)
        return tuple(labels)

    def _order(self) -> Utterance:
        task = self._rng.choice(self._tasks)
        marked = not task.thing.mark or self._rng.random() < 0.55
        if not marked:
            bare = InventedTask(task.action, Thing(task.thing.names), task.to, task.examples)
            text = self._framed(self._core(bare))
        else:
            text = self._framed(self._core(task)) if self._rng.random() < 0.85 else self._core(task)
        return Utterance(text, ORDER, self._labels(task, marked), self._parts(task.action, task.thing))

    def _forbidden(self) -> Utterance:
        table = self._rng.choice(
            ("forbid", "forbid", "forbid", "forbid_state", "keep", "keep_state", "retracted")
        )
        if table == "retracted":
            order = self._framed(self._core(self._rng.choice(self._tasks))).strip(" ,.?!")
            return self._none(self._filled(self._pick(table)).replace("{x}", order), FORBIDDEN)
        text = self._acted(table)
        if self._rng.random() < 0.3:
            text = self._framed(text)
        elif self._rng.random() < 0.15:
            order = self._core(self._rng.choice(self._tasks))
            text = f"{order}{self._rng.choice((' but ', ', and ', '. ', ', but '))}{text}"
        return self._none(text, FORBIDDEN)

    def _question(self) -> Utterance:
        text = self._acted(self._rng.choice(("asked", "asked_act")))
        return self._none(
            self._rng.choice(FRAMES["openers"]) + text + self._rng.choice(("?", "?", "", " now?")), QUESTION
        )

    def _told(self) -> Utterance:
        table = self._rng.choice(("told", "told", "told_act", "thanked", "sayings"))
        if table == "sayings":
            say = self._filled(
                self._pick(table).replace("{n}", self._rng.choice(self._tasks).thing.names[-1], 1)
            )
            return self._none(say, STATEMENT)
        return self._none(self._rng.choice(FRAMES["openers"]) + self._acted(table), STATEMENT)

    def _unreal(self) -> Utterance:
        table = self._rng.choice(("unreal_act", "unreal_act", "unreal_state", "third", "third", "third"))
        return self._none(self._rng.choice(FRAMES["openers"]) + self._acted(table), UNREAL)

    def _remark_and_fragment(self) -> Utterance:
        """Return an object or a verb alone, an order on a pronoun, a place, or a remark about an object."""
        rng, task = self._rng, self._rng.choice(self._tasks)
        roll = rng.random()
        if roll < 0.2:
            text = self._polite(self._said(task, thing=rng.choice(("it", "it", "them", "that"))))
            return self._none(text, ORDER)
        if roll < 0.45:
            text = self._np(task.thing) + rng.choice(("", "", " as well", " too", " please", " again"))
            return self._none(text, FRAGMENT)
        if roll < 0.6:
            return self._none(" ".join(self._said(task, thing="").split()).replace(" to", ""), FRAGMENT)
        if roll < 0.66 and task.action.states:
            state = rng.choice(task.action.states).replace("{d}", "")
            where = rng.choice(
                (
                    "an {s} {o}",
                    "the {s} {o}",
                    "a {s} {o}",
                    "close to the {o}",
                    "next to the {o}",
                    "near the {o}",
                    "{s} {o} in town",
                )
            )
            return self._none(where.replace("{s}", state).replace("{o}", task.thing.said(rng)), FRAGMENT)
        if roll < 0.75:
            into = rng.choice(("on", "in", "to", "into"))
            return self._none(
                f"{into} {self._np(self._lexicon.thing(rng, tuple(self._lexicon.things)))}", FRAGMENT
            )
        remark = self._pick("remarks")
        return self._none(f"{self._np(task.thing)} {remark}", STATEMENT)
