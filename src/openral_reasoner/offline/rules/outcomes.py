"""What is to come of an order: "push it until it is flush", "so that it closes", "it must not stay open".

A state that is said to be wanted, or not to last, is an order; one that must not come about is a prohibition, and its
"not" stays where it is.
"""

from __future__ import annotations

import re

from openral_reasoner.offline.rules.turns import THING, Rule, table

_NOT = (
    r"(?:must|should|shall|can|may|ought to|is to|is|was|are) ?not(?: to)?(?: supposed to| allowed to"
    r"| meant to)?"
)
_LAST = r"(?:stay|remain|be left|be kept|keep|stand|sit|hang)(?: standing| sitting| hanging)?"
_TURNED = {
    "open": "closed",
    "opened": "closed",
    "closed": "open",
    "shut": "open",
    "out": "closed",
    "ajar": "closed",
}
_SO = r",? (?:and )?(?:so(?: that)?|until|till|such that|til)"
_ARRIVES = (
    r"(?:is|are|gets|ends up|winds up|finishes up|comes to rest|comes|sits|lies|lands|arrives|rests|stops"
    r"|goes|stands|reaches|hits"
    r"|touches|has (?:arrived|reached|got|gone|come))"
)


def _turned(match: re.Match[str]) -> str:
    """ "the drawer must not stay open" -> "get the drawer closed"."""
    return f"get {match['thing']} {_TURNED[match['state']]}"


def _place(match: re.Match[str]) -> str:
    """ "push the puck so it ends up at the goal" -> "push the puck to the goal"."""
    inside = match["prep"] in ("in", "into", "inside", "on", "onto")
    return f" {match['prep'] if inside else 'to'} "


def _way(match: re.Match[str]) -> str:
    """ "push it until it is all the way down" -> "push it down"; home and flush are in."""
    ways = [word for word in match["how"].split() if word in ("in", "out", "down", "up", "back")]
    return f" {ways[-1]}" if ways else (" in" if {"home", "flush"} & set(match["how"].split()) else "")


_FAULT = re.compile(r"\b(?:not|no|never|stays?|remains?)\b")
_UNNEEDED = re.compile(r"(?:i|we) (?:do not|no longer) need (?:the|that|this|my) \w+(?: any ?more| now)?$")
_STATES = {"open": r"\b(?:closed|shut)\b", "close": r"\b(?:open|opened|out)\b"}


def _mended(match: re.Match[str]) -> str:
    """ "I do not want the drawer open any more, close it": the order says itself how the fault is mended."""
    fault, wrong = match["fault"], _STATES["open" if match["verb"] == "open" else "close"]
    named = re.findall(r"\b(?:the|that|this|my) \w+", fault)
    unneeded = match["verb"] != "open" and _UNNEEDED.match(fault)
    if not named or not _FAULT.search(fault) or not (unneeded or re.search(wrong, fault)):
        return match[0]
    return f"{named[-1]} is there, {match['order']}"


_RULES: tuple[Rule, ...] = (
    (
        rf"\b(?:slide|push|pull|move|get|shift) {THING},? (?:because |and )?it (?:should|must|has to"
        r"|needs to|ought to) be (?P<state>open|closed|shut)\b",
        r"get \g<thing> \g<state>",
    ),
    (
        r"(?:^|(?<=[.;!?] ))(?P<fault>[^,.;!?]+)[,.;!] (?P<order>(?:so |and |please |just |could you |can you )*"
        r"(?P<verb>open|close|shut) (?:it|that)\b)",
        _mended,
    ),
    (
        rf"(?:^|(?<=[,.;] )){THING} is (?:still )?not (?:yet )?(?P<state>open|opened|closed|shut|(?:in|at"
        r"|on|inside|onto) (?:the|its) \w+)"
        r"(?: yet| properly| quite| fully| all the way)?(?=[,;.] ?(?:so |and |please |just |could you "
        r"|can you )*\w+ (?:it|that)\b)",
        r"\g<thing> is \g<state>",
    ),
    (
        rf"(?:^|(?<=[,.;] ))(?:please )?do not leave {THING} (?:like (?:that|this)|open|closed|shut"
        r"|as it is)(?=[,;.] ?(?:so |and |please |just )*\w+ (?:it|that)\b)",
        r"\g<thing> is there",
    ),
    (r"\bkeep (?:on )?(?=\w+ing\b.*\b(?:until|till|so)\b)", ""),
    (rf"{THING} {_NOT} {_LAST} (?P<state>open|opened|closed|shut|out|ajar)\b", _turned),
    (
        rf"(?:^|(?<=[,.;] )){THING} {_NOT} be (?P<state>open|opened|closed|shut|out)(?=[,;.]? (?:and "
        r"|so )?(?:please |just |could you "
        r"|can you |would you )*\w+ (?:it|that)\b)",
        r"\g<thing> is \g<state>",
    ),
    (r",? (?:until|till) (?P<it>the \w+) opens(?: up)?\b", r" until \g<it> is open"),
    (r",? (?:until|till) (?P<it>the \w+) (?:closes|shuts)\b", r" until \g<it> is closed"),
    (rf"{_SO} (?P<it>it|that) opens(?: up)?\b", r" until \g<it> is open"),
    (rf"{_SO} (?P<it>it|that) (?:closes|shuts)(?: up)?\b", r" until \g<it> is closed"),
    (
        r",? so(?: that)? (?P<it>it|that) (?:is|gets|ends up) (?P<state>open|opened|closed"
        r"|shut)\b(?: again)?",
        r" until \g<it> is \g<state>",
    ),
    (
        rf"{_SO} (?:it|they|that) (?:is|are|gets|sits|goes|clicks|lies|will go|comes)(?: right| fully"
        r"| completely| nice and| nicely)* "
        r"(?P<how>(?:flush|home|snug|tight|in place|all the way|fully|back)(?: back)?(?: in| out| down| up"
        r"| home| flush)?(?: again)?)"
        r"(?=\s*(?:$|[,.;!?]))",
        _way,
    ),
    (
        rf"{_SO} it (?:clicks|stops|bottoms out|(?:will not|cannot|does not) (?:go|move) any (?:further"
        r"|more))\b",
        "",
    ),
    (
        rf"{_SO} (?:it|they) {_ARRIVES}(?: right| exactly| just)? ?(?P<prep>in|into|inside|onto|on|at|to"
        r"|over|by)? (?=the )",
        _place,
    ),
    (
        r"\b(?P<deed>(?:push|send|shove|slide|press|nudge|ease|drive|get|ram|bang|pop|pushed) (?:the|that"
        r"|this|my|it) ?\w*)"
        r"(?: right| all the way)? (?:back )?(?:home|flush)\b",
        r"\g<deed> in",
    ),
    (
        r"\b(?:push|pull|slide|draw|bang|swing|put|shove) (?P<what>(?:the|that|this|my) (?:window|door"
        r"|sash|gate))"
        r"(?: right)? to(?=\s*(?:$|[,.;!?]|so\b))",
        r"close \g<what>",
    ),
)

outcome = table(_RULES)
"""Rewrites what is to come of an order, in a text without contractions."""
