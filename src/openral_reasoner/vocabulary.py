"""The words the offline planner knows beside verbs: fillers, descriptions, objects, and a hand-made stemmer.

Everything is a plain table so that a reader can see what is understood and add a word. Words that belong to
one skill only (a verb such as "hammer", a phrase such as "slide the window left") come from its manifest.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_IRREGULAR = {
    "taken": "take",
    "brought": "bring",
    "driven": "drive",
    "drawn": "draw",
    "swung": "swing",
    "thrown": "throw",
    "sent": "send",
    "held": "hold",
    "went": "go",
    "gone": "go",
    "kept": "keep",
}
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
    word = _IRREGULAR.get(word, word)
    if len(word) <= 3:
        return word
    if len(word) > 5 and word.endswith(("ied", "ies")):
        return word[:-3] + "y"
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


FILLERS: frozenset[str] = _set(
    "please kindly just now also too again so ok okay well hey hi hello robot arm sawyer thanks thank you "
    "can could will would should shall must may might i we us me my i'd i'll we'll you'd like want need "
    "wants needs to be is are was gets been being sure ensure let lets go ahead try help "
    "make made do have has had got it'd mind time your task job of for with by the a an this that these "
    "those both there "
    "then and of its his her their our some fully completely entirely all way wide up back off "
    "along across over tight once on at onto to toward towards stand ought supposed straight hard "
    "sitting standing lying resting high"
)
"""Words that carry no task; ask `is_filler`. "all" and "way" only as in "all the way"."""

_THINGS_TOO: frozenset[str] = _set("can will might must")

DETERMINERS: frozenset[str] = _set("the a an this that these those my your our its both")

PRONOUNS: frozenset[str] = _set("it them")

MODIFIERS: frozenset[str] = _set(
    "red green blue yellow orange purple pink black white grey gray brown wooden metal plastic glass big "
    "small large little long short round square top bottom upper lower front left right nearest closest "
    "desk table "
    "kitchen sliding slid cabinet box above soda cola coke hockey drinks"
)
"""Descriptions of an object that may be true; one that the skill does not know costs a little."""

COLOURS: frozenset[str] = _set("red green blue yellow orange purple pink black white")

COLOUR_STEMS: frozenset[str] = frozenset(stem(word) for word in COLOURS)
"""Where things are told apart by one colour, every other one tells them apart, too."""

PARTIAL: frozenset[str] = _set("partially partly slightly barely halfway nearly almost only")
"""Adverbs that change the goal; all other words in -ly only say in what manner."""

OBJECT_SYNONYMS: dict[str, str] = {
    stem(word): stem(name)
    for name, synonyms in {
        "drawer": "drawers compartment tray",
        "window": "windows pane sash windowpane",
        "button": "pushbutton switch",
        "faucet": "spigot tap",
        "cup": "mug",
        "fridge": "refrigerator",
        "goal": "target destination location spot place",
        "gripper": "hand claw",
        "puck": "disc disk",
        "peg": "dowel",
        "hole": "socket",
        "bin": "container",
        "trash": "garbage rubbish",
        "couch": "sofa",
        "in": "into inside",
        "cube": "block",
        "can": "tin",
    }.items()
    for word in synonyms.split()
}
"""Stem of another name -> stem of the name used for comparing objects."""


def is_filler(word: str, before: str = "") -> bool:
    """Whether a word carries no task; behind a determiner or a description a modal verb is a thing: "the can"."""
    return word in FILLERS and not (before in DETERMINERS | MODIFIERS and word in _THINGS_TOO)


def object_stem(word: str) -> str:
    """Stem of a noun, with synonyms brought to one name."""
    root = stem(word)
    return OBJECT_SYNONYMS.get(root, root)


def is_manner(word: str) -> bool:
    """Whether a word only says how: slowly, gently, carefully; not the ones that change the goal."""
    return len(word) > 4 and word.endswith("ly") and word not in PARTIAL
