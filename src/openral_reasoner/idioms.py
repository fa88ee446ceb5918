"""Turns of phrase, rewritten as plain orders: "give the button a push" is "push the button".

Each rule cuts words that say how, why, with what or how politely, never words that say what not to do: a
"not" that forbids is still there when the parser looks for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from openral_reasoner.frames import unframed
from openral_reasoner.verbs import is_verb
from openral_reasoner.vocabulary import words

_THING = r"(?P<thing>(?:the|that|this|my) \w+(?: \w+)??)"
_PARTS = "handle|knob|grip|edge"
_BODY = "grippers?|hands?|fingers?|fingertips?|fist|arm|claw|end effector|tool"
_WEATHER = "cold|chilly|freezing|hot|warm|stuffy|raining|windy|dark|bright|noisy|late"
_COUNT = r"(?:a few|some|two|three|four|five|six|\d)"

_CONTRACTIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(short), long)
    for short, long in (
        (r"\bwon't\b", "will not"),
        (r"\bcan't\b", "cannot"),
        (r"(?<=\w)n't\b", " not"),
        (r"\bdont\b", "do not"),
        (
            r"\b(?:cannot|(?:could|will|would) not) you (?=(?:just |please )?\w+ (?:the|that|this|my)\b)",
            "can you ",
        ),
        (r"\b(i|we|you|he|she|they|it|that)'d\b", r"\1 would"),
        (r"'re\b", " are"),
        (r"'s (?=(?:still |already )?(?:open|opened|closed|shut|out|in)\b)", " is "),
        (r"'ll\b", " will"),
        (r"'ve\b", " have"),
        (r"\bi'm\b", "i am"),
        (r"\blet'?s\b", "let us"),
        (r"\b(?:plz|pls)\b", "please"),
        (r"\b(?:u|ya)\b", "you"),
        (r"\bwanna\b", "want to"),
        (r"\b(?:gotta|have got to)\b", "have to"),
        (r"\bthx\b", "thanks"),
        (r"\bon top of\b", "on"),
        (r"\bover to\b", "to"),
        (r"\bnext to\b", "beside"),
        (r"\b(it|that|there|what|he|she|who|where)'s\b", r"\1 is"),
    )
)


def _verb_first(match: re.Match[str]) -> str:
    """ "give the button a push" -> "push the button", if what was given is a verb."""
    return f"{match['verb']} {match['thing']}" if is_verb(match["verb"]) else match[0]


def _purpose(match: re.Match[str]) -> str:
    """ "let some air in by opening the window" -> "opening the window", if the first half is no order itself."""
    own_order = any(is_verb(word) for word in words(match["purpose"]))
    return match[0] if own_order else match["order"]


def _manner(match: re.Match[str]) -> str:
    """ "move the puck to the goal by pushing it" -> "pushing the puck to the goal"."""
    return f"{match['verb']} {match['rest']}" if is_verb(match["verb"]) else match[0]


_Rule = tuple[str, str | Callable[[re.Match[str]], str]]

_POLITE: tuple[_Rule, ...] = (
    (r"\bdo not (?:forget|hesitate|fail|neglect|be (?:shy|afraid)) to (?=\w)", ""),
    (r"\bwhy (?:do not you|not) (?=\w+ (?:the|that|this|my|it)\b)", ""),
    (r"\byou (?:would|had) better (?!not\b)", ""),
    (
        r"\b(?:i|we) (?:would )?(?:really )?(?:want|need|require|like|request|demand) (?:an?"
        r"|the) (?P<state>open|opened|closed|shut) "
        r"(?P<noun>\w+)",
        r"get the \g<noun> \g<state>",
    ),
    (r"\b(?:how|what) about (?=\w+ing\b)", ""),
    (
        rf"\b(?:make sure|ensure|be sure|see|see to it|take care)(?: that)? {_THING} (?:is|are|gets|be"
        rf"|stands) (?!not\b)"
        r"(?P<state>\w+)",
        r"get \g<thing> \g<state>",
    ),
    (
        rf"\b{_THING} (?:needs?|wants?|requires?|could (?:do with|use)) (?:an? )?(?:good |proper "
        rf"|quick )?(?P<verb>\w+ing)\b",
        r"\g<verb> \g<thing>",
    ),
    (r"\b(?:feel free|remember|proceed|be sure|see|take care) to (?:it that )?(?=\w)", ""),
    (r"\b(?:see|make sure|ensure|take care)(?: to it)? that ", ""),
    (r"\b(?:have|make|see) (?=(?:the|that|this|my|our) )", "get "),
    (r"\blet me (?:have|get) (?=(?:the|that|this|my)\b)", "get "),
    (rf"\bget {_THING} (?P<verb>put|set|\w+ed)\b(?= (?:in|on|at|to|into|onto|up|down)\b)", _verb_first),
    (r"\bget (?=(?:open|close|shut|press|push|pull|put|pick|insert|slide)\b)", ""),
)
_ASIDES: tuple[_Rule, ...] = (
    (r"\bas soon as (?:you can|possible|you are able)\b,?", ""),
    (
        r"\b(?:when|whenever|if) (?:you )?(?:can|could|like|please|possible|have (?:a|the) (?:time"
        r"|moment|minute))\b,?",
        "",
    ),
    (r",? (?:will|would|can|could) (?:you|ya)(?: please)?(?=[?.!]*$)", ""),
    (
        r"\bas (?:far|wide|much|fast|quickly|soon|gently|slowly|well|firmly|carefully) as "
        r"(?:possible|you can|it goes|it will go|it can go)\b",
        "",
    ),
    (r"\bfrom (?:above|the top|up there)\b", ""),
    (
        r"\bfor good\b|\b(?:right )?in front of you\b|\b(?:next to|beside|near) you\b"
        r"|\binto (?:its )?(?:place|position)\b",
        "",
    ),
    (
        r",? (?:because|since|as|for) (?:it|that|there|i|we|she|he|they) (?:is|am|are|was|were|feels?"
        r"|gets?|smells?)"
        r"(?:(?! and |\bnot\b)[^,.;])*(?=$|[,.;])",
        "",
    ),
    (
        r",? so(?: that)? (?:i|we|he|she|they|people|everyone|somebody) (?:can|could|may|might|will"
        r"|would|am|are|is)\b"
        r"(?:(?! and |\bnot\b)[^,.;])*(?=$|[,.;])",
        "",
    ),
    (
        r"(?P<thing>\bthe \w+) (?:that|which) (?:is|was) (?:still |currently |now )?(?:open|opened"
        r"|closed|shut)\b",
        r"\g<thing>",
    ),
    (r"(?P<thing>\bthe \w+) (?:that |which )?you (?:have )?(?:just |already )?\w+ed\b", r"\g<thing>"),
    (
        r"\bif (?:you (?:would|do not mind|want|wish)|it is not too much trouble|that is (?:ok|okay"
        r"|alright))\b,?",
        "",
    ),
    (r"\b(?:for )?(?:just )?a (?:second|sec|moment|minute)\b(?! hand)", ""),
    (r"\bright (?:away|now)\b|\bat once\b|\basap\b|\bstraight away\b", ""),
    (r"\bfor (?:some|a bit of|a little)(?: fresh)? (?:air|light|breeze|space)\b", ""),
    (rf"\b(?:with|using|by using) (?:your|the|its|a|one|both)(?: \w+)? (?:{_BODY})\b", ""),
    (rf"\b(?:use|take) (?:your|the|its) (?:{_BODY}) (?:to|and) (?=\w)", ""),
    (
        rf"\b(?:lower|raise|lift|move|stretch|extend|bring|reach)(?: out| down| up"
        rf"| over)? (?:with )?(?:your|the) (?:{_BODY})"
        r"(?: out| down| up| over)*,? (?:and|to) (?=(?!the\b)\w)",
        "",
    ),
    (
        rf"\b(?:move|bring|get|guide|steer|take|position|place|put|drive|send|extend|stretch"
        rf"|reach)(?: out| down| up| over)? "
        rf"(?:your|the) (?:{_BODY})(?: over| out| up| down)? "
        r"(?:to(?:wards?)?|at|onto|over|above|to touch) (?=the\b)",
        "reach ",
    ),
    (r"\breach (?:out )?(?:to|for|towards?) (?=the\b)", "reach "),
    (rf"(?:^|(?<=[,.;] ))(?:(?:the|your) )?(?:{_BODY}) (?:to|at|onto|over|above) (?=the\b)", "reach "),
    (r"\bfirst things first\s*,|\bfirst of all\b,?", ""),
    (r"\bin(?:to)? your (?:gripper|hand|hands|fingers)\b", ""),
    (
        r"\band wait (?:for (?:it|that)|until (?:it|that)(?: is)?)(?: to)? (?:be )?(?:finish|finished"
        r"|done|complete|end)\b",
        "",
    ),
    (
        r"\bwait (?:for (?:it|that)|until (?:it|that)(?: is)?)(?: to)? (?:be )?(?:finish|finished|done"
        r"|complete|end)\b",
        "",
    ),
)
_ORDER: tuple[_Rule, ...] = (
    (r"\b(?:and )?(?:when|once|after|as soon as)(?: you| that| this| it)?(?: are| is| have| has)?(?: been)? "
     r"(?:done|finished|ready|complete|completed)(?: (?:with )?(?:that|this|it|so))?\b,?", ", then "),
    (r"\bhaving (?P<first>\w+ed (?:the|that|this|my) [^,]+), (?P<second>.+)$", r"\g<first>, then \g<second>"),
    (
        rf"\b(?:there are |i (?:need|want|have) )?{_COUNT} (?:things|tasks|jobs|steps)(?: (?:to do|done"
        rf"|for you))?\s*,", ""
    ),
    (
        r"^(?:(?:next|your|my|the) )?(?:first |next )?(?:command|task|order|job|request|mission"
        r"|instruction)(?: is(?: to)?)?\s*,\s*",
        "",
    ),
    (r"(?:^|(?<=[\s.;,]))step (?:\d|one|two|three|four|five|six)\s*[,.)-]?\s", "; "),
    (r"(?:^|(?<=\s))[a-f1-9]\)\s", "\n"),
    (r"\b(?:as well as|plus|along with|together with)\b", "and"),
    (r"\b(?:too|as well|also)(?=\s*(?:$|[.,;!]))", ""),
    (r",? followed by ", ", then "),
)  # fmt: skip
_PHRASES: tuple[_Rule, ...] = (
    (r"\bi mean\b,? ", ""),
    (
        r"\b(?:i|we) (?:think|believe|guess|reckon|feel)(?: that)? "
        r"(?=(?:the|that|this|my) \w+(?: \w+)? (?:should|must|ought|needs|has to)\b)",
        "",
    ),
    (rf"(?P<thing>\bthe \w+) (?:{_PARTS})\b(?= ?(?:$|[,.;!?]|and\b|out|to\b))", r"\g<thing>"),
    (
        r"\b(?:in|into|to) (?:the|its|an?) (?P<state>open|opened|closed|shut) (?:position|state)\b",
        r"\g<state>",
    ),
    (rf"(?:^|(?<=[,.;] ))an? (?P<verb>\w+) (?:of|on|at|to) {_THING}", _verb_first),
    (rf"\b(?P<verb>\w+ing) of {_THING}", _verb_first),
    (r"\b(?:through|across|along|over) the (?:air|table|tabletop|desk|surface|floor|ground)\b", ""),
    (rf"^it is(?: so| very| too)? (?:{_WEATHER})(?: \w+)?, ", ""),
    (
        rf"\b(?:with|by) (?:the|its|that)(?: \w+)? (?:{_PARTS})(?: of the \w+)?\b",
        "",
    ),
    (
        rf"{_THING} (?:belongs|goes|(?:should|must|has to|needs to|ought to|is to) (?:be|go|end up|sit|get)) "
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
        rf"\b(?:grab|grasp|take|hold|use)(?: hold of)? (?:the|its|that)(?: \w+)? (?:{_PARTS})"
        r"(?: of the \w+)?(?:,? (?:and|to|then))?(?= \w)",
        "",
    ),
    (
        rf"\bgive {_THING} an? (?:\w+ )?(?P<verb>\w+)\b(?=\s*(?:$|[,.;!?]|and\b|then\b|from\b|with\b"
        rf"|to\b|in\b|until\b"
        rf"|on\b|please\b|now\b))",
        _verb_first,
    ),
    (r"\btowards? (?:you|me|us|yourself)\b", "outward"),
    (
        rf"\b(?:move|go|reach|come)(?: down| up| over)? (?:on"
        rf"|in)?to(?:wards?)? {_THING} and (?P<verb>\w+) it\b",
        _verb_first,
    ),
    (rf"\b(?:take|get|catch) hold of {_THING} and (?P<verb>\w+) it\b", _verb_first),
    (r"\b(?:bring|draw) (?P<thing>(?:the|that) \w+) to (?:a|an|its) (?P<verb>\w+)\b", _verb_first),
    (r"\b(?:until|so(?: that)?) (?P<it>it|that) opens\b", r"until \g<it> is open"),
    (r"\b(?:until|so(?: that)?) (?P<it>it|that) (?:closes|shuts)\b", r"until \g<it> is closed"),
    (r"\b(?:inside|in to)(?= (?:the|its|that)\b)", "into"),
    (r"\buntil (?:it|that) (?:reaches|is at|gets to|arrives at|comes to|hits) (?=the \w+)", "to "),
    (
        r"\b(?:move|get|bring|drive|send|take|transport) (?P<rest>.+?) by (?P<verb>\w+ing) (?:it|them"
        r"|that)\b",
        _manner,
    ),
    (r"^(?P<purpose>[^,;.]+?) by (?P<order>\w+ing .+)$", _purpose),
)
_RULES = tuple(
    (re.compile(pattern), replacement) for pattern, replacement in (*_POLITE, *_ASIDES, *_ORDER, *_PHRASES)
)


def spelled_out(text: str) -> str:
    """Lower case, without contractions: "Don't" is "do not", "it's" is "it is"."""
    text = text.lower().replace("’", "'")
    for short, long in _CONTRACTIONS:
        text = short.sub(long, text)
    return text


def plain(text: str) -> str:
    """Return a text that was `spelled_out` with every known turn of phrase replaced."""
    text = unframed(text)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return re.sub(r"[ \t]+", " ", text).strip(" ,")
