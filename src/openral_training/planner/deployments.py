"""Random deployments for training: tasks with examples, drawn from the lexicon, often with opposite or similar ones."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from openral_core.errors import ManifestError
from openral_training.planner.inflection import gerund, participle

LEXICON = Path(__file__).with_name("lexicon.yaml")
COLOURS = ("red", "blue", "green", "yellow", "black", "white", "grey", "orange", "brown", "pink", "purple")
SIDES = ("left", "right", "top", "bottom", "upper", "lower", "front", "back", "middle", "first", "second")
SIZES = ("big", "small", "large", "little", "long", "short", "tall", "heavy")

STRANGE = 0.12
"""Probability that an object gets a name that is not in the lexicon."""


_PLACE = re.compile(r" (into|in|onto|on|to|from|off|out of|with|down|over to|at) {d}$")


_NEEDS_PLACE = frozenset(
    [
        "put",
        "place",
        "set",
        "lay",
        "move",
        "get",
        "take",
        "bring",
        "carry",
        "transfer",
        "transport",
        "shift",
        "send",
        "deliver",
        "slide",
        "push",
        "stand",
        "park",
        "leave",
        "pick",
        "pull",
        "stick",
        "pop",
        "give",
        "drop",
        "throw",
        "let",
        "hold",
        "tip",
        "empty",
        "return",
        "lift",
    ]
)


@dataclass(frozen=True)
class Action:
    """An action of the lexicon: its phrases, its opposite, and the actions that may mean the same."""

    name: str
    opposite: str
    kinds: tuple[str, ...]
    to: tuple[str, ...]
    say: tuple[str, ...]
    states: tuple[str, ...]
    near: frozenset[str]


@dataclass(frozen=True)
class Thing:
    """An object: its names, the most common one first, and a modifier that distinguishes it from others of its name."""

    names: tuple[str, ...]
    mark: str = ""

    def said(self, rng: random.Random, synonym: float = 0.35, mark: bool = True) -> str:
        """Return one of the names, with the modifier; a name of several words may be shortened to the last one.

        Args:
            rng: makes the choices.
            synonym: probability of a random name in place of the first one, and of shortening.
            mark: whether the modifier is included.
        """
        name = rng.choice(self.names) if rng.random() < synonym else self.names[0]
        if " " in name and " of " not in name and rng.random() < synonym:
            name = name.rsplit(" ", 1)[1]
        return f"{self.mark} {name}" if mark and self.mark else name

    def is_like(self, other: Thing) -> bool:
        """Return whether a word may refer to both, although they are different objects."""
        return self.names != other.names and not self.words.isdisjoint(other.words)

    @property
    def words(self) -> frozenset[str]:
        """The names and their last words."""
        return frozenset(self.names) | {name.rsplit(" ", 1)[-1] for name in self.names}


@dataclass(frozen=True)
class InventedTask:
    """One task of a deployment."""

    action: Action
    thing: Thing
    to: Thing | None
    examples: tuple[str, ...]


class Lexicon:
    """The words of `lexicon.yaml`, without those that are excluded."""

    def __init__(
        self,
        without: Collection[str] = (),
        share: tuple[float, float] = (0.0, 1.0),
        strange: Collection[str] = (),
    ) -> None:
        """Read the lexicon.

        Args:
            without: nouns; objects with one of them as a name are excluded.
            share: interval of 0..1; only objects whose hash is in it are included, so that objects can be held out.
            strange: words that replace an object's name with the probability STRANGE, as examples of unknown words.
        """
        data: dict[str, Any] = yaml.safe_load(LEXICON.read_text())
        banned = {word.lower().strip() for word in without}
        self.things: dict[str, list[Thing]] = {}
        for kind, listed in data["objects"].items():
            named = [tuple(name.strip() for name in entry.split("|")) for entry in listed.split(",")]
            self.things[kind] = [
                Thing(names)
                for names in named
                if not any(_banned(name, banned) for name in names) and share[0] <= _hash(names[0]) < share[1]
            ]
        self.actions = {
            name: Action(
                name,
                entry["opposite"],
                tuple(entry["of"]),
                tuple(entry["to"]),
                tuple(entry["say"]),
                tuple(entry["states"]),
                frozenset(entry.get("near", ())),
            )
            for name, entry in data["actions"].items()
            if self._any(entry["of"]) and (not entry["to"] or self._any(entry["to"]))
        }
        known = set(re.findall(r"\w+", LEXICON.read_text()))
        self._strange = sorted(word for word in strange if word not in known and not _banned(word, banned))
        self.unrelated: list[str] = data["unrelated"]
        self.free_verbs: list[str] = data["free_verbs"]

    def _any(self, kinds: Sequence[str]) -> bool:
        return any(self.things[kind] for kind in kinds)

    def thing(self, rng: random.Random, kinds: Sequence[str]) -> Thing:
        """Return a random object of one of the kinds, or with the probability STRANGE one with an unknown name."""
        if self._strange and rng.random() < STRANGE:
            return Thing((rng.choice(self._strange),))
        return rng.choice(self.things[rng.choice([kind for kind in kinds if self.things[kind]])])

    def mark(self, rng: random.Random, thing: Thing) -> str:
        """Return a random modifier for an object: a colour, a side, or the object that it belongs to."""
        if rng.random() < 0.4:
            return rng.choice(COLOURS + SIDES)
        other = self.thing(rng, tuple(kind for kind, things in self.things.items() if things))
        return other.names[0] if not other.is_like(thing) and " " not in other.names[0] else rng.choice(SIDES)

    def near(self, one: Action, other: Action) -> bool:
        """Return whether two actions may mean the same."""
        return one.name in other.near or other.name in one.near


@lru_cache(maxsize=65536)
def _hash(word: str) -> float:
    return random.Random(f"held out {word}").random()


def _banned(name: str, banned: set[str]) -> bool:
    return name in banned or name.split()[-1] in banned or name.removesuffix("s") in banned


def phrase(pattern: str, thing: str, to: str = "", form: str = "base") -> str:
    """Fill a pattern of the lexicon with an object and a place.

    Args:
        pattern: a verb, then words with {o} for the object and {d} for the place.
        thing: noun phrase of the object.
        to: noun phrase of the place.
        form: base; ing, the gerund; or pp, the past participle without the object.
    """
    verb, _, rest = pattern.partition(" ")
    if form == "pp":
        left = " ".join(rest.replace("{o}", "").replace("{d}", to).split())
        return f"{participle(verb)} {left}".strip()
    verb = gerund(verb) if form == "ing" else verb
    return f"{verb} {rest.replace('{o}', thing).replace('{d}', to)}"


def without_place(
    rng: random.Random, pattern: str, thing: str, to: str, share: float, form: str = "base"
) -> str:
    """Return a `phrase`, with the probability `share` without a place at its end, as in "insert the chip"."""
    match = _PLACE.search(pattern)
    if match and " it " not in pattern and rng.random() < share:
        back = "back " if rng.random() < 0.25 else ""
        tail = {"into": " in", "in": " in", "off": " off", "out of": " out", "on": " on"}.get(match[1], "")
        bare = pattern.split()[0] in _NEEDS_PLACE
        if tail or not bare:
            pattern = pattern[: match.start()] + (
                f" {back}{tail[1:]}" if tail and (bare or rng.random() < 0.4) else ""
            )
    return phrase(pattern, thing, to, form)


def make_deployment(
    rng: random.Random, lexicon: Lexicon, tasks: tuple[int, int] = (4, 9)
) -> list[InventedTask]:
    """Draw the tasks of a deployment; for each one similar tasks may be added, see `_Draft.add_similar`.

    Args:
        rng: makes the choices.
        lexicon: actions and objects.
        tasks: range of the number of tasks; similar ones may exceed it.
    """
    wanted = rng.randint(*tasks)
    draft = _Draft(rng, lexicon)
    while len(draft.tasks) < wanted:
        action = rng.choice(list(lexicon.actions.values()))
        thing = lexicon.thing(rng, action.kinds)
        if rng.random() < 0.22:
            thing = Thing(thing.names, lexicon.mark(rng, thing))
        to = lexicon.thing(rng, action.to) if action.to else None
        if action.name in ("stack", "unstack") and rng.random() < 0.5:
            marks = rng.sample(COLOURS + SIZES, 2)
            thing, to = Thing(thing.names, marks[0]), Thing(thing.names, marks[1])
        draft.add(action, thing, to)
        draft.add_similar(action, thing, to)
    return draft.tasks


class _Draft:
    """The tasks of a deployment that is being drawn; any two of them can be distinguished by words."""

    def __init__(self, rng: random.Random, lexicon: Lexicon) -> None:
        self.tasks: list[InventedTask] = []
        self._rng, self._lexicon = rng, lexicon
        self._seen: set[tuple[str, tuple[str, ...], str, tuple[str, ...]]] = set()

    def add(self, action: Action, thing: Thing, to: Thing | None) -> None:
        """Add a task, unless words could not distinguish it from one that was added before."""
        key = (action.name, thing.names, thing.mark, (to.names if to else ()))
        if key in self._seen or (to and to.names == thing.names and to.mark == thing.mark):
            return
        things = [one for task in self.tasks for one in (task.thing, task.to) if one]
        if any(one.is_like(two) for one in (thing, to) for two in things if one):
            return
        same = [task for task in self.tasks if task.thing == thing and task.to == to]
        if any(self._lexicon.near(task.action, action) for task in same):
            return
        self._seen.add(key)
        self.tasks.append(_task(self._rng, action, thing, to))

    def add_similar(self, action: Action, thing: Thing, to: Thing | None) -> None:
        """Add random tasks that share action, object or place with a task, and those with the opposite action."""
        rng, lexicon = self._rng, self._lexicon
        if action.opposite in lexicon.actions and rng.random() < 0.6:
            self.add(lexicon.actions[action.opposite], thing, to)
        if rng.random() < 0.35:
            self.add(action, lexicon.thing(rng, action.kinds), to)
        if to and rng.random() < 0.3:
            self.add(action, thing, lexicon.thing(rng, action.to))
        if thing.mark and rng.random() < 0.7:
            self.add(action, Thing(thing.names, lexicon.mark(rng, thing)), to)
        if rng.random() < 0.25:
            kind = next((k for k, things in lexicon.things.items() if thing in things), "")
            others = [a for a in lexicon.actions.values() if kind in a.kinds and a.name != action.name]
            if others:
                other = rng.choice(others)
                self.add(other, thing, lexicon.thing(rng, other.to) if other.to else None)


def _task(rng: random.Random, action: Action, thing: Thing, to: Thing | None) -> InventedTask:
    """Return a task with one to three examples like those of manifests: imperatives, the most common one first."""
    first = rng.choice(action.say[:3]) if rng.random() < 0.8 else rng.choice(action.say)
    others = [pattern for pattern in action.say if pattern != first]
    chosen = [first, *rng.sample(others[:8], min(rng.randint(0, 2), len(others[:8])))]
    the = "the " if rng.random() < 0.9 else ""
    examples = tuple(
        without_place(rng, pattern, the + thing.said(rng, 0.15), the + to.said(rng, 0.15) if to else "", 0.12)
        for pattern in chosen
    )
    return InventedTask(action, thing, to, examples)


def nouns_of(path: Path) -> set[str]:
    """Return the nouns of a suite's objects, or of a text file with one noun per line.

    Raises:
        ManifestError: the file cannot be read, or is no suite.
    """
    try:
        text = path.read_text(encoding="utf-8")
        data = yaml.safe_load(text) if path.suffix in (".yaml", ".yml") else None
        if isinstance(data, dict):
            return {str(noun).lower() for skill in data["skills"] for noun in skill.get("objects", ())}
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, yaml.YAMLError) as error:
        why = " ".join(str(error).split())[:200]
        raise ManifestError(
            f"{path}: is no suite of missions and no list of nouns ({why}); write one noun a line into a .txt file"
        ) from error
    return {line.strip() for line in text.lower().splitlines() if line.strip()}
