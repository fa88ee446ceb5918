"""The verbs the offline planner knows: what they always mean, what with a particle, and what is no task of ours.

Plain tables, so that a reader can see what is understood and add a word. Verbs that belong to one skill only,
such as "hammer", come from the examples in its manifest.
"""

from __future__ import annotations

from openral_reasoner.vocabulary import stem


def _stem_set(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


def _table(groups: dict[str, str]) -> dict[str, str]:
    return {stem(word): concept for concept, synonyms in groups.items() for word in synonyms.split()}


STRONG_VERBS: dict[str, str] = _table(
    {
        "open": "open opened reopen unshut unclose uncover unseal",
        "close": "close closed shut shutting reclose",
        "press": "press depress hit tap click punch poke smack thump strike jab prod whack slap bash bump pound boop "
        "trigger activate engage actuate squeeze compress",
        "pick": "pick grab grasp lift elevate raise collect pluck gather pickup "
        "hoist scoop snatch seize clutch retrieve grip clasp",
        "place": "place lay deposit stow",
        "carry": "carry transport convey transfer ferry lug relocate deliver shuttle fetch",
        "insert": "insert plug fit slot wedge jam embed dock thread inserting",
        "lock": "lock latch bolt",
        "unlock": "unlock unlatch unbolt",
        "rotate": "rotate twist spin",
        "reach": "reach touch approach",
        "wipe": "wipe mop scrub swab",
        "pour": "pour tip decant",
        "release": "release",
    }
)
"""Stem of a verb -> the action it always means. Opposites never share an action."""

WEAK_VERBS: frozenset[str] = _stem_set(
    "push pull slide move draw swing bring get put set turn switch drag shove tug yank nudge press take "
    "slam bang ease "
    "drop come haul heave roll work coax jerk wrench tuck return retract extend shift propel drive glide scoot ram "
    "throw toss chuck fling pop "
    "stick crack send travel go head proceed hover pop dump slip wiggle "
    "shunt balance rest perch plonk plop guide steer navigate ease flick"
)
"""Verbs whose meaning is decided by what follows (pull … open), or by the skill's own examples."""

WEAK_ALONE: dict[str, dict[str, float]] = {
    stem(verb): meaning
    for verbs, meaning in (
        ("push", {"push": 1.0, "press": 0.9, "insert": 0.65}),
        ("nudge", {"push": 0.9, "press": 0.7}),
        ("propel ram scoot", {"push": 0.9}),
        ("shove", {"push": 0.9, "insert": 0.65}),
        ("stick", {"insert": 1.0, "place": 0.7}),
        ("pull", {"pull": 1.0}),
        ("tug yank haul heave", {"pull": 0.9, "carry": 0.6}),
        ("drag", {"pull": 0.9, "push": 0.65}),
        ("shunt", {"push": 0.9}),
        ("slide glide", {"slide": 1.0, "push": 0.7, "insert": 0.65}),
        ("take", {"pick": 0.9, "carry": 0.9, "place": 0.65, "insert": 0.65}),
        ("bring", {"carry": 0.9, "place": 0.65, "insert": 0.65}),
        ("move get send shift", {"carry": 0.7, "push": 0.65, "place": 0.65, "insert": 0.65}),
        ("drive", {"push": 0.65}),
        ("put", {"place": 0.9, "insert": 0.7}),
        ("drop", {"place": 0.8}),
        ("throw toss chuck dump", {"place": 0.65}),
        ("set", {"place": 0.7}),
        ("extend", {"open": 0.8}),
        ("slam bang retract", {"close": 0.8}),
        ("travel go head proceed hover navigate", {"reach": 0.8}),
        ("slip work wiggle coax", {"insert": 0.65}),
        ("balance rest perch plonk plop", {"place": 0.8}),
        ("guide steer ease", {"carry": 0.7, "push": 0.65, "insert": 0.65}),
        ("pop flick", {"place": 0.65, "insert": 0.65}),
    )
    for verb in verbs.split()
}
"""Weak verbs without a deciding word -> the actions they may mean, each with a weight of 0..1."""

DECIDING_PARTICLES: dict[tuple[str, str], dict[str, float]] = {
    (stem(verb), particle): meaning
    for verbs, particle, meaning in (
        (
            "pull draw slide tug yank drag bring move take haul heave roll work ease coax jerk wrench "
            "get shift come",
            "out",
            {"open": 1.0},
        ),
        ("pull tug yank drag draw haul heave bring slide move shift push", "outward", {"open": 1.0}),
        (
            "push shove nudge slide tuck move get ease work bring roll shift put ram go stick pop send",
            "in",
            {"close": 1.0, "press": 0.9, "insert": 0.7},
        ),
        ("push shove nudge slide move", "inward", {"close": 1.0, "press": 0.9}),
        ("push shove slide put tuck move bring get roll go", "back", {"close": 0.9}),
        ("push shove nudge bring move get take go come", "down", {"press": 0.9}),
        ("press push shove", "on", {"press": 1.0}),
        ("take get bring", "up", {"pick": 1.0}),
        ("put set", "down", {"place": 1.0}),
        ("drop", "off", {"place": 1.0}),
        ("turn switch", "on", {"turn on": 1.0}),
        ("turn switch", "off", {"turn off": 1.0}),
    )
    for verb in verbs.split()
}
"""(stem of a weak verb, particle after it) -> actions. "Push in" shuts a drawer, and may press a button."""

PARTICLES: frozenset[str] = frozenset(
    ["in", "into", "inward", "out", "outward", "back", "down", "up", "on", "off"]
)
"""Words that say which way something goes."""

STATE_VERBS: frozenset[str] = _stem_set("leave keep hold stay remain")
"""Verbs that ask for no change ("leave the drawer open"): never a reason to move."""

OTHER_VERBS: frozenset[str] = _stem_set(
    "clean wash wipe rinse scrub paint varnish polish sand oil dust sweep break smash crush destroy "
    "damage ruin kick burn "
    "repair fix mend weld glue solder nail tape hammer drill saw cut carve scratch measure weigh count "
    "describe "
    "photograph film scan inspect examine watch admire observe study read name label mark decorate draw "
    "sketch trace "
    "remove detach dismantle disassemble unscrew unmount replace exchange swap install build assemble "
    "mount hang "
    "hide cover wrap fold empty fill sort tidy organise guard protect secure block barricade hold shake "
    "kiss lick taste smell bite eat drink buy sell rent steal order pay forget ignore remember knock "
    "ring rattle tickle "
    "stack climb lean sit stand sleep dance sing play joke tell ask explain teach learn write print send "
    "call cook fry bake"
)
"""Verbs that mean none of the actions above; a task with one of them in its examples knows better."""

CONTRASTS: tuple[str, ...] = (
    *(
        "clean",
        "wash",
        "paint",
        "polish",
        "break",
        "smash",
        "kick",
        "hammer",
        "drill",
        "cut",
        "burn",
        "scratch",
    ),
    *(
        "repair",
        "fix",
        "weld",
        "measure",
        "weigh",
        "count",
        "describe",
        "photograph",
        "inspect",
        "watch",
        "read",
    ),
    *(
        "name",
        "decorate",
        "draw",
        "remove",
        "detach",
        "unscrew",
        "replace",
        "install",
        "lift",
        "hide",
        "cover",
    ),
    *(
        "wrap",
        "fold",
        "empty",
        "fill",
        "sort",
        "guard",
        "hold",
        "shake",
        "throw",
        "drop",
        "turn",
        "touch",
        "lick",
    ),
    *("bite", "buy", "sell", "steal", "forget", "ignore", "knock", "find", "leave"),
)
"""Verbs of other kinds, as many as embeddings need to see that an unknown verb is none of ours."""

SYNONYMS: dict[str, tuple[str, ...]] = {
    "open": ("open", "pull"),
    "close": ("close", "shut"),
    "press": ("press", "push", "hit", "tap", "poke", "click"),
    "push": ("push", "shove", "slide", "nudge"),
    "pull": ("pull", "drag", "tug"),
    "carry": ("carry", "transport", "bring"),
    "pick": ("pick up", "grab", "lift"),
    "insert": ("insert", "plug", "put", "stick"),
    "reach": ("reach", "touch", "go to"),
    "wipe": ("wipe", "mop"),
    "pour": ("pour", "tip"),
    "rotate": ("rotate", "twist", "turn"),
}
"""Action -> verbs that embeddings compare an unknown verb with."""

ALL_VERBS: frozenset[str] = frozenset(STRONG_VERBS) | WEAK_VERBS | STATE_VERBS | OTHER_VERBS
"""Stems of every verb that is known to mean something."""

DAMAGING: frozenset[str] = OTHER_VERBS - _stem_set("throw toss kick shake knock")
"""Verbs that a word of state does not turn into an order: "nail the drawer shut" is more than to shut it."""

PREPARING: frozenset[str] = frozenset(
    [
        "grab",
        "grasp",
        "take",
        "hold",
        "get",
        "catch",
        "find",
        "locate",
        "approach",
        "reach",
        "go",
        "move",
        "lower",
        "raise",
        "lift",
        "touch",
        "pick",
        "fetch",
    ]
)
"""Verbs whose clause may only get ready for the next one: "take the peg and push it into the hole"."""


def is_verb(word: str) -> bool:
    """Whether a word can begin a task: a verb of the tables, in any inflection."""
    root = stem(word)
    return root in STRONG_VERBS or root in WEAK_VERBS or root in STATE_VERBS
