"""Turns of phrase, rewritten as plain orders: "give the button a push" is "push the button".

Each rule cuts words that say how, why, with what or how politely, never words that say what not to do: a
"not" that forbids is still there when the parser looks for it.
"""

from __future__ import annotations

import re

from openral_reasoner.offline.rules.asides import without_asides
from openral_reasoner.offline.rules.frames import unframed
from openral_reasoner.offline.rules.moves import PLACED, reached
from openral_reasoner.offline.rules.needs import wanted
from openral_reasoner.offline.rules.outcomes import outcome
from openral_reasoner.offline.rules.turns import PARTS, THING, Rule, table, verb_first
from openral_reasoner.offline.rules.verbs import is_verb
from openral_reasoner.offline.rules.wishes import wished
from openral_reasoner.vocabulary import words

_WEATHER = "cold|chilly|freezing|hot|warm|stuffy|raining|windy|dark|bright|noisy|late"
_COUNT = r"(?:a few|some|two|three|four|five|six|\d)"


def _purpose(match: re.Match[str]) -> str:
    """ "let some air in by opening the window" -> "opening the window", if the first half is no order itself."""
    own_order = any(is_verb(word) for word in words(match["purpose"]))
    return match[0] if own_order else match["order"]


def _manner(match: re.Match[str]) -> str:
    """ "move the puck to the goal by pushing it" -> "pushing the puck to the goal"."""
    return f"{match['verb']} {match['rest']}" if is_verb(match["verb"]) else match[0]


_ORDER: tuple[Rule, ...] = (
    (
        r"\b(?:and )?(?:when|once|after|as soon as)(?: you| that| this| it)?(?: are| is| have| has)?(?: been)? "
        r"(?:done|finished|ready|complete|completed)(?: (?:with )?(?:that|this|it|so))?\b,?",
        ", then ",
    ),
    (r"\bhaving (?P<first>\w+ed (?:the|that|this|my) [^,]+), (?P<second>.+)$", r"\g<first>, then \g<second>"),
    (
        rf"\b(?:there are |i (?:need|want|have) )?{_COUNT} (?:things|tasks|jobs|steps)(?: (?:to do|done"
        rf"|for you))?\s*,",
        "",
    ),
    (
        r"^(?:(?:next|your|my|the) )?(?:first |next )?(?:command|task|order|job|request|mission"
        r"|instruction)(?: is(?: to)?)?\s*,\s*",
        "",
    ),
    (
        r"^(?:tidy up|clean up|chores?|to ?do|quick one|favou?r|small favou?r|last thing|one (?:more"
        r"|last)? ?thing|reminder|new (?:task|job))\s*[,.]\s*",
        "",
    ),
    (r"(?:^|(?<=[\s.;,]))step (?:\d|one|two|three|four|five|six)\s*[,.)-]?\s", "; "),
    (r"(?:^|(?<=\s))[a-f1-9]\)\s", "\n"),
    (r"\b(?:as well as|plus|along with|together with)\b", "and"),
    (r"\b(?:too|as well|also)(?=\s*(?:$|[.,;!]))", ""),
    (r",? followed by ", ", then "),
)
_PHRASES: tuple[Rule, ...] = (
    (r"\bi mean\b,? ", ""),
    (
        r"\b(?:i|we) (?:think|believe|guess|reckon|feel)(?: that)? "
        r"(?=(?:the|that|this|my) \w+(?: \w+)? (?:should|must|ought|needs|has to)\b)",
        "",
    ),
    (rf"(?P<thing>\bthe \w+) (?:{PARTS})\b(?= ?(?:$|[,.;!?]|and\b|out|to\b))", r"\g<thing>"),
    (
        r"\b(?:in|into|to) (?:the|its|an?) (?P<state>open|opened|closed|shut) (?:position|state)\b",
        r"\g<state>",
    ),
    (r"\b(?:through|across|along|over) the (?:air|table|tabletop|desk|surface|floor|ground)\b", ""),
    (rf"^it is(?: so| very| too)? (?:{_WEATHER})(?: \w+)?, ", ""),
    (
        rf"\b(?:with|by) (?:the|its|that)(?: \w+)? (?:{PARTS})(?: of the \w+)?\b",
        "",
    ),
    (
        rf"{THING} (?:belongs|goes|(?:should|must|has to|needs to|ought to|is to) (?:be|go|end up|sit|get)) "
        r"(?P<place>(?:in|on|at|into|onto|to|inside) (?:the|its) \w+)",
        r"put \g<thing> \g<place>",
    ),
    (
        r"\b(?P<deed>(?:lift|pick|raise|take|get|grab|hoist|scoop)(?: up)? (?:the|that|this|my) \w+(?: \w+)?)"
        r"(?: up)? (?:from|off) the (?:table|tabletop|desk|surface|floor|ground)\b",
        r"\g<deed> up",
    ),
    (r"(?P<put>put the \w+ (?:in|on|at|into|to) the \w+),? (?:so )?put it (?:there|back)", r"\g<put>"),
    (
        rf"\b(?:grab|grasp|take|hold|use)(?: hold of)? (?:the|its|that)(?: \w+)? (?:{PARTS})"
        r"(?: of the \w+)?(?:,? (?:and|to|then))?(?= \w)",
        "",
    ),
    (r"\btowards? (?:you|me|us|yourself)\b", "outward"),
    (
        rf"\b(?:move|go|reach|come)(?: down| up| over)? (?:on"
        rf"|in)?to(?:wards?)? {THING} and (?P<verb>\w+) it\b",
        verb_first,
    ),
    (rf"\b(?:take|get|catch) hold of {THING} and (?P<verb>\w+) it\b", verb_first),
    (r"\b(?:bring|draw) (?P<thing>(?:the|that) \w+) to (?:a|an|its) (?P<verb>\w+)\b", verb_first),
    (r"\b(?:until|so(?: that)?) (?P<it>it|that) opens\b", r"until \g<it> is open"),
    (r"\b(?:until|so(?: that)?) (?P<it>it|that) (?:closes|shuts)\b", r"until \g<it> is closed"),
    (r"\b(?:inside|in to)(?= (?:the|its|that)\b)", "into"),
    (r"\buntil (?:it|that) (?:reaches|is at|gets to|arrives at|comes to|hits) (?=the \w+)", "to "),
    (
        r"\b(?:move|get|bring|drive|send|take|transport|shift) (?P<rest>.+?)(?: out of (?:the|my"
        r"|our) way)? by (?P<verb>\w+ing)(?: it| them| that|(?=$))",
        _manner,
    ),
    (r"^(?P<purpose>[^,;.]+?) by (?P<order>\w+ing .+)$", _purpose),
)
_MANNER: tuple[Rule, ...] = (
    (
        r"\b(?:pull|push|grab|use|hold|take|slide"
        rf"|turn)(?: on)? the (?:{PARTS}) of (?P<thing>the \w+) (?:to|and) (?P<verb>open|close|shut"
        r"|pull) it\b",
        r"\g<verb> \g<thing>",
    ),
    (
        rf"\b(?:line|align|square)(?: up)? {THING} (?:up )?(?:with|to|against) the \w+,? (?:and"
        r"|then) (?P<verb>\w+) it\b",
        r"\g<verb> \g<thing>",
    ),
    (
        r"\b(?:give|let) (?:me|us) (?:have |take )?a look (?:in|inside|at"
        rf"|into) {THING}(?=[,;:.])",
        r"\g<thing> is there",
    ),
    (rf"\b(?:make|get|have|let) {THING} (?:to )?(?P<verb>slide)\b", r"\g<verb> \g<thing>"),
    (
        r"\b(?:get|take|lift|pick|grab) (?P<thing>(?:the|that) \w+) (?:up |up off "
        r"|off )(?:of )?(?:the table |the desk )?(?:and )?(?:onto|to) (?P<place>the \w+)",
        r"lift \g<thing> to \g<place>",
    ),
    (rf"\bpick(?: up)?[- ]and[- ](?:place|put) {THING}", r"pick up \g<thing> and place it"),
    (
        r"^(?P<front>(?:[^,.;]* )?)(?:it|them)\b(?P<rest>[^,.;]*), (?P<thing>(?:the|that|this"
        r"|my) \w+(?: \w+)?)[.!?]?$",
        r"\g<front>\g<thing>\g<rest>",
    ),
    (
        r"\b(?:grab|take|hold|grasp|grip|seize|get hold of|take hold of|catch)(?: onto| on to"
        r"| hold of)? (?P<thing>(?:the|that|this|my) \w+(?: \w+)??)"
        r"(?: (?:handle|knob|pull|grip))?,? (?:and|then) (?P<verb>pull|push|tug|yank|lift|slide|press|haul"
        r"|raise)(?: it)?(?P<rest>(?: (?:up|out|open))*)"
        r"(?=\s*(?:$|[,.;!?]))",
        r"\g<verb> \g<thing>\g<rest>",
    ),
    (
        r"\b(?P<verb>pull|tug|yank|haul|heave|drag|push|shove)(?P<form>ing|ed)? (?:on|at|against) (?=the "
        r"|that |my |it\b)",
        r"\g<verb>\g<form> ",
    ),
    (
        r"^(?P<front>.*\b(?:push|slide|shove|nudge|drag)\w*\b.*?),? (?:but )?without (?:lifting|picking"
        r"|raising)(?: up)? (?:it|the \w+)(?: up)?,?",
        r"\g<front>",
    ),
    (
        r"^without (?:lifting|picking|raising)(?: up)? (?:it|the \w+)(?: up)?, (?=(?:push|slide|shove"
        r"|nudge|drag)\b)",
        "",
    ),
    (
        r"\bdo not (?:lift|pick up|raise) (?P<thing>the \w+)(?: up)?,? (?:but |just |only |rather "
        r"|simply )*(?P<verb>push|slide|shove|nudge) it\b",
        r"\g<verb> \g<thing>",
    ),
    (
        r"[,;]? \bso (?=(?:please |just |could you |can you |would you )*(?:open|close|shut|press|push"
        r"|pull|put|insert|lift|pick|slide|stack|get)\b)",
        ", ",
    ),
)
_turned = table((*_MANNER, *_ORDER, *PLACED, *_PHRASES))


def plain(text: str) -> str:
    """Return a text that was `spelled_out` with every known turn of phrase replaced."""
    text = _turned(without_asides(wanted(outcome(unframed(reached(wished(outcome(text))))))))
    return re.sub(r"[ \t]+", " ", text).strip(" ,")
