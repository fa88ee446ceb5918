"""Negative examples that resemble orders: other objects or actions, parts of objects, several orders at once."""

from __future__ import annotations

from openral_training.planner.deployments import COLOURS, SIDES, Action, InventedTask, Thing, phrase
from openral_training.planner.labelled_utterance import IGNORED, ORDER, STATEMENT, Utterance
from openral_training.planner.phrasing import FRAMES, Phrasing

_TAILS = frozenset(
    [
        "open",
        "shut",
        "closed",
        "on",
        "off",
        "up",
        "down",
        "in",
        "out",
        "left",
        "right",
        "wide",
        "over",
        "to",
        "together",
        "apart",
        "loose",
        "tight",
        "clean",
        "dry",
    ]
)


class NearOrders(Phrasing):
    """Generates sentences that resemble an order but order no task of the deployment."""

    def _none(self, text: str, act: int) -> Utterance:
        return Utterance(text, act, (0.0,) * len(self._tasks))

    def _impossible(self) -> Utterance:
        """Return an order that differs from a task in action, object or place, or that is unrelated to all tasks."""
        rng, task = self._rng, self._rng.choice(self._tasks)
        roll = rng.random()
        if rng.random() < 0.2:
            return self._elsewhere(task)
        if rng.random() < 0.3 and (crossed := self._crossed(task)):
            return crossed
        if roll < 0.12:
            return self._free(task.thing if roll < 0.09 else None)
        action, thing, to = self._altered(task, roll)
        if thing is task.thing and rng.random() < (0.5 if thing.mark else 0.1):
            thing = self._marked_otherwise(thing)
        if to is not None or task.to is not None:
            self._placeless = False
        other = InventedTask(action, thing, to, ())
        labels = self._unwanted(action, thing, to)
        return Utterance(self._framed(self._core(other)), ORDER, labels, self._parts(action, thing))

    def _free(self, thing: Thing | None) -> Utterance:
        """Return an order with a verb of no action, on this object or another; None: an order unrelated to any task."""
        rng, lexicon = self._rng, self._lexicon
        free = rng.choice(lexicon.unrelated)
        if thing is not None:
            if rng.random() >= 0.6:
                thing = lexicon.thing(rng, tuple(k for k, things in lexicon.things.items() if things))
            free = f"{rng.choice(lexicon.free_verbs)} {self._np(thing)}"
        return self._none(self._framed(self._polite(free)), ORDER)

    def _altered(self, task: InventedTask, roll: float) -> tuple[Action, Thing, Thing | None]:
        """Return action, object and place of a task, of which one is replaced, or the latter two exchanged.

        Args:
            task: the task.
            roll: 0.12..1, determines what is changed.
        """
        rng, lexicon = self._rng, self._lexicon
        action, thing, to = task.action, task.thing, task.to
        if roll < 0.35:
            thing = lexicon.thing(rng, action.kinds if rng.random() < 0.7 else tuple(lexicon.things))
        elif roll < 0.48 and action.opposite and action.opposite in lexicon.actions:
            action = lexicon.actions[action.opposite]
        elif roll < 0.78 or to is None:
            fitting = [a for a in lexicon.actions.values() if bool(a.to) == bool(to)]
            if rng.random() < 0.6:  # another action on objects of this kind: "unlock the drawer"
                kin = [a for a in fitting if any(thing in lexicon.things[kind] for kind in a.kinds)]
                fitting = kin or fitting
            action = rng.choice(fitting)
            to = lexicon.thing(rng, action.to) if action.to and rng.random() < 0.5 else to
        elif roll < 0.86:
            to = lexicon.thing(rng, action.to if rng.random() < 0.6 else tuple(lexicon.things))
        else:
            thing, to = to, thing
        return action, thing, to

    def _marked_otherwise(self, thing: Thing) -> Thing:
        """Return an object of the same name with another modifier: the car window is not the window."""
        mark = self._lexicon.mark(self._rng, thing)
        return Thing(thing.names, mark) if thing.mark or mark not in (*COLOURS, *SIDES) else thing

    def _crossed(self, task: InventedTask) -> Utterance | None:
        """Return an order with the action of one task and the object of another; None: they are too similar."""
        rng = self._rng
        other = rng.choice(self._tasks)
        if (
            other.action is task.action
            or other.thing.is_like(task.thing)
            or other.thing.names == task.thing.names
        ):
            return None
        to = other.to if other.action.to else None
        if to is not None:
            self._placeless = False
            if to.names == task.thing.names:
                return None
        return Utterance(
            self._framed(self._core(InventedTask(other.action, task.thing, to, ()))),
            ORDER,
            self._unwanted(other.action, task.thing, to),
            self._parts(other.action, task.thing),
        )

    def _parts(self, action: Action, thing: Thing) -> tuple[tuple[float, float], ...]:
        """Return the value of `Utterance.parts` for an action and an object."""
        parts = []
        for known in self._tasks:
            if known.action is action:
                same_action = 1.0
            elif self._lexicon.near(known.action, action) or set(known.action.say) & set(action.say):
                same_action = IGNORED
            else:
                same_action = 0.0
            if known.thing.names == thing.names:
                same_thing = 1.0 if known.thing.mark == thing.mark else IGNORED
            else:
                same_thing = IGNORED if known.thing.is_like(thing) else 0.0
            parts.append((same_action, same_thing))
        return tuple(parts)

    def _unwanted(self, action: Action, thing: Thing, to: Thing | None) -> tuple[float, ...]:
        """Return the label 0 for each task, but `IGNORED` for those that the given words may order after all."""
        labels = []
        for known in self._tasks:
            alike = (known.thing.names == thing.names or known.thing.is_like(thing)) and (
                known.action is action or self._lexicon.near(known.action, action)
            )
            labels.append(IGNORED if alike and (_same_place(known.to, to) or not known.to) else 0.0)
        return tuple(labels)

    def _elsewhere(self, task: InventedTask) -> Utterance:
        """Return an order on another object, with the task's object as a place: "put the spoon in the drawer"."""
        rng = self._rng
        other = self._lexicon.thing(
            rng, tuple(kind for kind, things in self._lexicon.things.items() if things)
        )
        if other.is_like(task.thing) or other.names == task.thing.names:
            return self._talk()
        labels = tuple(
            IGNORED if known.thing.names == other.names or known.thing.is_like(other) else 0.0
            for known in self._tasks
        )
        moved = [action for action in self._lexicon.actions.values() if action.to]
        self._placeless = False
        if rng.random() < 0.6:
            action = rng.choice(moved)
            text = self._core(InventedTask(action, other, task.thing, ()))
            return Utterance(self._framed(text), ORDER, labels, self._parts(action, other))
        where = rng.choice(("next to", "beside", "on", "in", "by", "near", "behind", "under"))
        scene = self._pick("neighbours")
        text = (
            scene.replace("{x}", other.said(rng)).replace("{w}", where).replace("{o}", self._np(task.thing))
        )
        return self._none(
            f"{text}{rng.choice((', ', '. ', ' so ', ' and '))}{self._said(task, thing='it')}", ORDER
        )

    def _talk(self) -> Utterance:
        table = self._rng.choice(("talk", "reasons", "scenes", "scenes", "purposes"))
        return self._none(self._filled(self._pick(table)), STATEMENT)

    def _part(self) -> Utterance:
        """Return an order on a part, or on an object with a similar name: the button of the lift, the car window."""
        rng, task = self._rng, self._rng.choice(self._tasks)
        kinds = rng.choice([kind for kind in self._lexicon.things if self._lexicon.things[kind]])
        other = rng.choice(self._lexicon.things[kinds]).names[0]
        text = self._pick("other_part").replace("{x}", other).replace("{y}", rng.choice(FRAMES["parts"]))
        name = text.replace("{o}", task.thing.said(rng, 0.1))
        return self._none(self._framed(self._polite(self._said(task, thing=name))), ORDER)

    def _acted(self, table: str, task: InventedTask | None = None) -> str:
        """Return a frame of a table, filled with a task; None: with a random task of the deployment."""
        rng = self._rng
        if task is None:
            task = rng.choice(self._tasks)
        base = self._said(task)
        past = self._past(task)
        return (
            self._pick(table)
            .replace("{b}", base)
            .replace("{g}", self._said(task, "ing"))
            .replace("{p2}", past)
            .replace("{p}", past)
            .replace("{o}", self._np(task.thing))
            .replace("{s}", self._state(task))
            .replace("{n}", str(rng.randint(2, 90)))
            .replace("{who}", self._pick("persons"))
            .replace("{adj}", rng.choice(FRAMES["adjectives"]))
        )

    def _partly(self) -> Utterance:
        text = self._acted("partly")
        return self._none(self._polite(text) if self._rng.random() < 0.4 else text, ORDER)

    def _several(self) -> Utterance:
        """Return a sentence with several orders, which is labelled as none of them."""
        rng, first = self._rng, self._rng.choice(self._tasks)
        parts = [self._core(first)]
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
            second = rng.choice(self._tasks)
            free = self._polite(rng.choice(self._lexicon.unrelated))
            kind = rng.choice(tuple(self._lexicon.actions.values()))
            where = self._lexicon.thing(rng, kind.to) if kind.to else None
            foreign = self._said(InventedTask(kind, self._lexicon.thing(rng, kind.kinds), where, ()))
            plain = self._said(
                second, thing="it" if rng.random() < 0.3 and second.thing == first.thing else None
            )
            thing = self._np(second.thing)
            chosen = (self._core(second), plain, plain, thing) if second is not first else (free, foreign)
            parts.append(rng.choice((*chosen, foreign)))
        if rng.random() < 0.3:
            rng.shuffle(parts)
        joint = rng.choice(
            (
                " and ",
                ", then ",
                ", ",
                " and then ",
                "; ",
                ". ",
                " after you ",
                " before you ",
                ", afterwards ",
                " and ",
            )
        )
        text = joint.join(parts)
        if len(parts) == 2 and rng.random() < 0.25:
            text = rng.choice(
                (
                    f"{parts[0]}, but first {parts[1]}",
                    f"{parts[0]}, but {parts[1]} first",
                    f"before you {parts[0]}, {parts[1]}",
                    f"after {self._said(first, 'ing')}, {parts[1]}",
                    f"first {parts[0]}, finally {parts[1]}",
                    f"both {parts[0]} and {parts[1]}",
                )
            )
        return self._none(self._framed(text), ORDER)

    def _vague(self) -> Utterance:
        """Return an order with an ambiguous verb: "do the door", or "slide the door", which may open or close it."""
        rng, task = self._rng, self._rng.choice(self._tasks)
        text = self._pick("generic").replace("{o}", self._np(task.thing))
        if rng.random() < 0.5:
            tailed = [p for p in task.action.say if p.split()[-1] in _TAILS and p.split()[-2] == "{o}"]
            bare = [" ".join(p.split()[:-1]) for p in tailed]
            known = {
                p
                for action in self._lexicon.actions.values()
                for p in action.say
                if self._may_mean(action, task)
            }
            if fitting := [p for p in bare if p not in known]:
                text = phrase(rng.choice(fitting), self._np(task.thing))
        return self._none(self._polite(text), ORDER)

    def _may_mean(self, action: Action, task: InventedTask) -> bool:
        return action is task.action or self._lexicon.near(action, task.action)


def _same_place(one: Thing | None, other: Thing | None) -> bool:
    return names_of(one) == names_of(other) or bool(one and other and one.is_like(other))


def names_of(thing: Thing | None) -> tuple[str, ...]:
    """Return the names of an object; an empty tuple for None."""
    return thing.names if thing else ()
