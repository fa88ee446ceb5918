"""English verb forms for the generator: gerund and past participle of a verb's base form."""

from __future__ import annotations

_PARTICIPLES = {
    "put": "put", "set": "set", "shut": "shut", "cut": "cut", "hit": "hit", "let": "let", "get": "got",
    "take": "taken", "bring": "brought", "give": "given", "make": "made", "swing": "swung", "fling": "flung",
    "throw": "thrown", "draw": "drawn", "drive": "driven", "hang": "hung", "lay": "laid", "leave": "left",
    "light": "lit", "run": "run", "send": "sent", "spin": "spun", "spread": "spread", "stick": "stuck",
    "sweep": "swept", "tear": "torn", "feel": "felt", "find": "found", "feed": "fed", "break": "broken",
    "rip": "ripped", "ring": "rung", "shake": "shaken", "beat": "beaten", "blow": "blown", "bind": "bound",
    "hold": "held", "come": "come", "go": "gone", "sell": "sold", "buy": "bought", "eat": "eaten", "hide": "hidden",
    "drink": "drunk", "unwind": "unwound", "undo": "undone", "do": "done", "read": "read", "burn": "burnt",
    "stand": "stood", "strike": "struck", "have": "had", "keep": "kept", "wet": "wetted", "unmake": "unmade",
    "build": "built", "write": "written", "sing": "sung", "tell": "told", "say": "said", "fetch": "fetched",
}  # fmt: skip
_DOUBLE = frozenset(
    ["grab", "grip", "slam", "tap", "stop", "drop", "plug", "unplug", "pop", "tip", "flip", "scrub", "mop", "rub",
     "stir", "snap", "snip", "chop", "wrap", "unwrap", "jab", "prod", "pin", "trim", "clip", "unclip", "zip", "bin",
     "slap", "clap", "tug", "nab", "drag", "fit", "hug", "get", "put", "set", "cut", "hit", "let", "shut", "run",
     "spin", "sit", "slot", "strap", "unbar", "bar", "unshut", "step", "jog", "pat", "skin", "slip", "strip", "swab",
     "swap", "top", "trap", "whip", "wet", "rip", "nip", "chip", "unpin", "dab", "hop", "hum"]
)  # fmt: skip


def gerund(verb: str) -> str:
    """The -ing form: closing, putting, tying."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing"
    return verb + (verb[-1] if verb in _DOUBLE else "") + "ing"


def participle(verb: str) -> str:
    """The past participle: closed, put, tied."""
    if verb in _PARTICIPLES:
        return _PARTICIPLES[verb]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + (verb[-1] if verb in _DOUBLE else "") + "ed"
