"""Orders that say what is wanted: "the button needs a push", "give it a press", "I could do with the drawer shut".

Each becomes an order with its verb in front. Only what asks for something is rewritten: a wish, a need, a gift.
"""

from __future__ import annotations

import re

from openral_reasoner.offline.rules.turns import BODY, IT, SIZE, STATE, THING, Rule, deed, table, verb_first
from openral_reasoner.offline.rules.wishes import DONE, WISH, done

_HAS_NEED = (
    r"(?:(?:really|just|now|badly|still|also|definitely) )*"
    r"(?:needs?|wants?|requires?|deserves?|could (?:do with|use)|can do with|would benefit from"
    r"|is (?:due|ready|overdue) for|is (?:due|ready|overdue)|(?:has|ought|needs?|wants?) to (?:get|receive"
    r"|have)"
    r"|must (?:get|have)|should (?:get|have))"
)
_DEED = rf"(?:(?:an?|some|one|to be|to get|being|getting|another) )*{SIZE}(?P<verb>\w+)\b"


def _both(match: re.Match[str]) -> str:
    """ "the puck picked up and put at the goal" -> "picked up the puck and put it at the goal"."""
    known = deed(match["done"].split()[0])
    return f"{match['done']} {match['thing']} and {match['second']} it" if known else match[0]


def _needed(match: re.Match[str]) -> str:
    """ "the table wants wiping" -> "wiping the table"; what is needed in -ing is a deed, whatever it is."""
    verb = match["verb"] if match["verb"].endswith("ing") else deed(match["verb"])
    return f"{verb} {match['thing']}" if verb else match[0]


_ENCOURAGING: tuple[Rule, ...] = (
    (r"\bdo not (?:forget|hesitate|fail|neglect|be (?:shy|afraid)) to (?=\w)", ""),
    (r"\bwhy (?:do not you|not) (?=\w+ (?:the|that|this|my|it)\b)", ""),
    (r"\b(?:how|what) about you (?:just )?(?=\w+ (?:the|that|this|my|it)\b)", ""),
    (r"\byou (?:would|had) better (?!not\b)", ""),
    (r"\b(?:how|what) about (?=\w+ing\b)", ""),
    (r"\bi say (?:that )?(?:we|you) (?=\w+ (?:the|that|this|my)\b)", ""),
    (
        r"\b(?:your|the|our) (?:next |only |new )?(?:task|job|mission|order"
        r"|duty)(?: now)? is (?:now )?(?:to )?(?!not\b)(?=\w+(?:ing)? (?:the|that|my)\b)",
        "",
    ),
    (r"\band (?:stop|halt|wait) there\b", ""),
    (r"\bget (?:on with )?(?=\w+ing (?:the|that|this|my)\b)", ""),
    (r"\b(?:you (?:can|may|could) )?go ahead and ", ""),
)
_WISHED: tuple[Rule, ...] = (
    (
        rf"\b{WISH} (?:to (?:have|see) )?(?:an?"
        rf"|the) (?P<state>{STATE}) (?P<noun>\w+)",
        r"get the \g<noun> \g<state>",
    ),
    (rf"(?:^|(?<=[,.;] )){THING} being (?=\w+ed\b|put\b|{STATE}\b)", r"get \g<thing> "),
    (
        rf"(?:^|(?<=[,.;:] )|(?<=\band )){IT} (?:(?:should|must|ought to|needs to|has to|had better|wants to)"
        rf" (?:really |now |please )*be|is to be|would be better|is better) (?P<state>{STATE})\b",
        r"get \g<thing> \g<state>",
    ),
    (
        rf"\b(?:make sure|ensure|be sure|see|see to it|take care)(?: that)? {THING} (?:is|are|gets|be"
        r"|stands|ends up) (?!not\b)(?P<state>\w+)",
        r"get \g<thing> \g<state>",
    ),
    (rf"\blet {THING} (?:be|get) (?=(?!closed|wed)\w+ed\b|put\b|slid\b|swung\b|drawn\b)", r"get \g<thing> "),
    (
        rf"\b(?:time|about time|high time)(?: that)? {THING} (?:was|were|got|is|gets) (?=\w+ed\b|put\b"
        rf"|{STATE}\b)",
        r"get \g<thing> ",
    ),
    (r"\b(?:feel free|remember|proceed|be sure|make sure|see|take care) to (?:it that )?(?!not\b)(?=\w)", ""),
    (r"\b(?:see|make sure|ensure|take care)(?: to it)? that ", ""),
    (rf"\bsee to {THING}(?=[,;.] )", r"\g<thing>"),
    (r"\b(?:have|make|see) (?=(?:the|that|this|my|our) )", "get "),
    (r"\blet me (?:have|get) (?=(?:the|that|this|my)\b)", "get "),
    (
        rf"(?:^|(?<=[,.;] )|\bget ){THING} {DONE} and (?:then )?(?P<second>put|placed|set|laid|dropped|moved"
        r"|brought|taken|transferred|transported|lifted|carried|deposited|released)\b(?: it)?",
        _both,
    ),
    (
        rf"\bget {THING} {DONE}(?=\s*(?:$|[,.;!?])| (?:in|on|at|to|into|onto|up|down|off|from|over|with"
        r"|inside|please|now|again)\b)",
        done,
    ),
    (r"\bget (?=(?:open|close|shut|press|push|pull|put|pick|insert|slide)\b)", ""),
)
_NEEDED: tuple[Rule, ...] = (
    (rf"(?:^|(?<=[,.;:] )|\b(?:and|but|think|says?) )?{IT} {_HAS_NEED} {_DEED}", _needed),
    (
        rf"\bgive (?:{IT})(?: (?:handle|knob|grip))? (?:an?|one|another) {SIZE}(?P<verb>\w+)\b(?! (?:name"
        r"|clean))",
        verb_first,
    ),
    (
        rf"\b(?:have|take) (?:a|another) {SIZE}(?P<verb>push|pull|press|tug|shove|tap|poke|go) (?:on|of"
        rf"|at) {THING}",
        verb_first,
    ),
    (
        rf"(?:^|(?<=[,.;] ))(?:an?|one|another|some|just an?) {SIZE}(?P<verb>\w+) (?:of|on|at|to"
        rf"|for) {THING}(?! and (?:we|i|you|it|they|he|she|the|everything)\b)",
        verb_first,
    ),
    (rf"(?:^|(?<=[,.;] ))(?:the )?(?P<verb>\w+) of {THING}", verb_first),
    (rf"\b(?P<verb>\w+ing) of {THING}", verb_first),
    (
        r"\b(?:put|apply|exert)(?: some| a bit of| a little)?(?: \w+)? (?:pressure|force|weight) (?:on|to"
        r"|onto|against)"
        r" (?=the )",
        "press ",
    ),
    (
        rf"\b(?:put|bring|push|lower|place|press|move)(?: down)? (?:your|the|an?) (?:{BODY})(?: \w+ly)? "
        r"down (?:on|onto|to) (?=the )",
        "press ",
    ),
    (
        r"^up (?:you go )?with (?P<thing>(?:the|that) \w+)(?: \w+ it)?(?=\s*(?:$|[,.;!?]))(?!, \w+ it)",
        r"lift \g<thing>",
    ),
    (r"^(?:up (?:goes|comes)) (?=(?:the|that) )", "lift "),
    (r"^out with (?P<what>(?:the|that) \w+)$", r"pull \g<what> out"),
    (r"^in with (?P<what>(?:the|that) \w+)$", r"push \g<what> in"),
    (r"^up (?:you go )?with (?=the \w+, \w+ it)", ""),
)

wanted = table((*_ENCOURAGING, *_WISHED, *_NEEDED))
"""Rewrites what is wanted, in a text without contractions."""
