"""The words the offline planner knows: verbs and their synonyms, particles, fillers, and a hand-made
stemmer.

Everything is a plain table so that a reader can see what is understood and add a word. Words that belong to
one skill only (a verb such as "hammer", a phrase such as "slide the window left") come from its manifest.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_VOWELS = "aeiou"


def words(text: str) -> list[str]:
    """Lower-case words of a text, in order; all but letters and digits separates; no possessive "'s"."""
    return [
        word.removesuffix("'s") for word in _WORD.findall(text.lower().replace("’", "'").replace("_", " "))
    ]


def stem(word: str) -> str:
    """Cut an English word to the form in which its inflections agree: closing, closes, closed, close ->
    clos.

    Only what verbs and plain plurals need; words of up to three letters stay as they are.
    """
    if len(word) <= 3:
        return word
    for ending, rest in (("ing", 3), ("ed", 2)):
        base = word[: -len(ending)]
        if word.endswith(ending) and len(base) >= rest and any(letter in _VOWELS + "y" for letter in base):
            doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeslz"
            return (base[:-1] if doubled else base).removesuffix("e")
    if word.endswith("es") and word[:-2].endswith(("sh", "ch", "ss", "x", "z")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def stems(text: str) -> list[str]:
    """Stems of the words of a text, in order."""
    return [stem(word) for word in words(text)]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stem_set(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


def _table(groups: dict[str, str]) -> dict[str, str]:
    return {stem(word): concept for concept, synonyms in groups.items() for word in synonyms.split()}


STRONG_VERBS: dict[str, str] = _table(
    {
        "open": "open opened reopen unshut unclose",
        "close": "close closed shut shutting reclose",
        "press": "press depress hit tap click punch poke",
        "pick": "pick grab grasp lift raise pickup",
        "place": "place lay deposit stow",
        "insert": "insert plug",
        "lock": "lock latch bolt",
        "unlock": "unlock unlatch unbolt",
        "rotate": "rotate twist spin",
        "reach": "reach touch",
        "wipe": "wipe mop scrub swab",
        "pour": "pour tip",
        "release": "release",
    }
)
"""Stem of a verb -> the action it always means. Opposites never share an action."""

WEAK_VERBS: frozenset[str] = _stem_set(
    "push pull slide move draw swing bring get put set turn switch drag shove tug yank nudge press take slam bang ease"
)
"""Verbs whose meaning is decided by what follows (pull … open), or by the skill's own examples."""

WEAK_ALONE: dict[str, dict[str, float]] = {
    stem("push"): {"push": 1.0, "press": 0.9},
    stem("pull"): {"pull": 1.0},
    stem("slide"): {"slide": 1.0},
    stem("drag"): {"pull": 0.9},
    stem("tug"): {"pull": 0.9},
    stem("yank"): {"pull": 0.9},
    stem("shove"): {"push": 0.9},
    stem("take"): {"pick": 0.9},
    stem("put"): {"place": 0.9},
    stem("set"): {"place": 0.7},
}
"""Weak verbs without a deciding word -> the actions they may mean, each with a weight of 0..1."""

DECIDING_PARTICLES: dict[tuple[str, str], dict[str, float]] = {
    (stem(verb), particle): meaning
    for verbs, particle, meaning in (
        ("pull draw slide tug yank drag bring move take", "out", {"open": 1.0}),
        ("pull tug yank", "outward", {"open": 1.0}),
        ("push shove nudge slide", "in", {"close": 1.0, "press": 0.9, "insert": 0.7}),
        ("push shove nudge slide", "inward", {"close": 1.0, "press": 0.9}),
        ("push shove slide", "back", {"close": 1.0}),
        ("push shove nudge", "down", {"press": 1.0}),
        ("press push shove", "on", {"press": 1.0}),
        ("take", "up", {"pick": 1.0}),
        ("put set", "down", {"place": 1.0}),
        ("turn switch", "on", {"turn on": 1.0}),
        ("turn switch", "off", {"turn off": 1.0}),
    )
    for verb in verbs.split()
}
"""(stem of a weak verb, particle after it) -> actions. "Push in" shuts a drawer, and may press a button."""

STATE_VERBS: frozenset[str] = _stem_set("leave keep hold stay remain")
"""Verbs that ask for no change ("leave the drawer open"): never a reason to move."""

FILLERS: frozenset[str] = _set(
    "please kindly just now also too again so ok okay well hey hi hello robot arm sawyer thanks thank you "
    "can could will would should shall must may might i we us me my i'd i'll we'll you'd like want need "
    "wants needs to be is are was gets been being sure ensure let lets go ahead try help "
    "make made do it'd mind time your task job of for with by the a an this that these those both there "
    "then and of its his her their our some fully completely entirely all way wide up back off away "
    "over tight once on at from onto to toward towards stand"
)
"""Words that carry no task; "all" and "way" only as in "all the way"."""

DETERMINERS: frozenset[str] = _set("the a an this that these those my your our its both")

MODIFIERS: frozenset[str] = _set(
    "red green blue yellow orange purple pink black white grey gray brown wooden metal plastic glass big "
    "small large little long short round square top bottom upper lower front left right nearest closest desk table "
    "kitchen sliding slid cabinet box above"
)
"""Descriptions of an object that may be true; one that the skill does not know costs a little."""

PARTIAL: frozenset[str] = _set("partially partly slightly barely halfway nearly almost only")
"""Adverbs that change the goal; all other words in -ly only say in what manner."""

OBJECT_SYNONYMS: dict[str, str] = {
    stem(word): stem(name)
    for name, synonyms in {
        "drawer": "drawers",
        "window": "windows pane",
        "button": "buttons pushbutton",
        "faucet": "spigot tap",
        "cup": "mug",
        "fridge": "refrigerator",
        "bin": "container",
        "trash": "garbage rubbish",
        "couch": "sofa",
    }.items()
    for word in synonyms.split()
}
"""Stem of another name -> stem of the name used for comparing objects."""


def is_manner(word: str) -> bool:
    """Whether a word only says how: slowly, gently, carefully; not the ones that change the goal."""
    return len(word) > 4 and word.endswith("ly") and word not in PARTIAL


def is_verb(word: str) -> bool:
    """Whether a word can begin a task: a verb of the tables, in any inflection."""
    root = stem(word)
    return root in STRONG_VERBS or root in WEAK_VERBS or root in STATE_VERBS
