"""What stands beside an order: how, with what, why, and what goes on around it. It is cut.

Remarks that the parser can tell from orders stay ("it is cold, …"); here go those that look like an order or a
prohibition and are none: "I cannot get in, …", "let some air in, …", "… because I cannot breathe".
"""

from __future__ import annotations

import re

from openral_reasoner.offline.rules.turns import BODY, Rule, table

_AMBIENT = (
    r"(?:air|light|breeze|sunshine|daylight|sun|heat|warmth|space|room|quiet|peace|privacy|coolness"
    r"|ventilation)"
)
_NUISANCE = (
    r"rain|wind|cold|heat|draught|draft|noise|cat|dog|flies|bugs|kids|children|neighbours|smell|dust|snow"
    r"|traffic|birds|mosquitoes|sun|light|air"
)
_OTHERS = (
    r"(?:i|we|he|she|they|nobody|no one|people|my \w+|our \w+|everyone|everybody|somebody|someone"
    r"|the (?:cat|dog|kids|children))"
)
_UNABLE = (
    r"(?:(?:still|really|just|simply) )*(?:cannot(?: even)?|could not|can hardly|can barely|(?:am|is"
    r"|are) (?:not|un)able to|am unable"
    r"|are unable|do not (?:see|hear|know|feel|fit|have)|wants? to|needs? to|would like to|(?:am|is"
    r"|are) (?:going|trying|about) to|does not (?:see|hear|know|feel|fit|have)"
    r"|have not got|have no|has no|keeps? \w+ing|got nothing|needs? to (?:get|find|reach|look|see|put))"
)


def _unable(match: re.Match[str]) -> str:
    """ "I cannot get into the drawer, …": what it names is what an "it" behind it means."""
    named = re.findall(r"(?:the|that|this|my) \w+", match["what"])
    return f"{named[-1]} is there, " if named else ""


_ASIDES: tuple[Rule, ...] = (
    (
        r"(?:^|(?<=[.;!?] ))(?:now that|seeing (?:as|that)|given that|considering(?: that)?|since|because"
        r"|as) (?:i|we|it|he|she|they|my|our|there|everyone)\b"
        r"(?P<what>(?![^,.;:]*\b(?:you|if|unless)\b)[^,.;:]*), ?",
        _unable,
    ),
    (
        r"(?:^|(?<=[.;!?] )|(?<=^please ))(?:it|i|we|there) (?:is|am|are|was|feels?|gets?"
        r"|smells?)\b(?P<what>(?![^,.;:]*\b(?:you|if|unless|until|when|better|time|or"
        r"|to|job|task|order|told|asked|said|against|forbidden|allowed|wrong|bad|dangerous"
        r"|not [a-z]+ed)\b)[^,.;:]*)"
        r"[,.;:] ?(?=[^,.;]*\w)(?!\w+ing\b)",
        _unable,
    ),
    (
        r"(?<=\w), (?:it|i|we) (?:is|am|are|feels?|gets?|smells?) (?:getting |all |so |too |very |really "
        r"|rather |quite |a bit |a little |a tad |pretty |much too )+\w+"
        r"(?: in here| outside| out there| out| now| today)?(?=\s*(?:$|[.!?]))",
        "",
    ),
    (
        rf"(?:^|(?<=[.;!?] )){_OTHERS} {_UNABLE} "
        r"(?P<what>(?![^,.;:]*\b(?:you|let|allow|have|want|permit|stand|and|or|not)\b)[^,.;:]*?)(?:[,.;:]"
        r"| so\b)\s*",
        _unable,
    ),
    (
        r"(?:^|(?<=[,.;:] ))(?:to |let us )?(?:let|give|get|have|bring)(?: (?:me|us|in|out|the room|it"
        r"|the place))?"
        r"(?: (?:some|a bit of|a little|a breath of|the|in some|in the|more|in))*(?: fresh| cool| warm"
        r"| cold| outside)? "
        rf"{_AMBIENT}(?: in| out| here| into| through| flow| circulate| the| room| this| place| inside)*"
        r"(?=\s*[,.;:]| and | by | so )\s*[,.;:]?\s*(?:and |by |so )?",
        "",
    ),
    (
        r"(?:^|(?<=[,.;:] ))(?:(?:(?:how|what) about|fancy) |(?:i|we) (?:could|would|can|do|really"
        r"|just) ?(?:use|do with|like|want"
        r"|need) )?(?:some|a bit of|a little|more|a breath of|a spot of)"
        rf"(?: fresh| cool| warm| outside)? {_AMBIENT}(?: in here)?(?: would (?:be|do"
        r"|help)[^,.;:]*)?[,.;:] (?:so |and )?",
        "",
    ),
    (
        rf",? so (?:that )?(?:(?:the|that|all the|no) (?:{_NUISANCE})|i|we|nobody|no one|nothing|people"
        r"|everyone)"
        r" (?:do not|does not|did not|will not|cannot|could not|would not|can|could|stays?|keeps?|will"
        r"|gets?|comes?|may|might)\b"
        r"(?:(?! and |\b(?:open|close|shut|press|push|pull)\b)[^,.;])*(?=$|[,.;!?])",
        "",
    ),
    (
        r"\b(?:all the way|(?<!the )right|fully|completely|nice and|a bit further|further) (?=(?:in|out|back"
        r"|down|up|open|closed|shut|over|across|to|into)\b)",
        "",
    ),
    (
        r",? before (?:i|we|they|everyone|everybody|somebody|someone|anyone|he|she|people|us) (?:(?! and "
        r"|\b(?:open|close|shut|press|push|pull|leave|go)\b)[^,.;])*(?=$|[,.;!?])",
        "",
    ),
    (
        r"^keep (?:the |my |our |us |me )?\w+(?: \w+)? (?:out|in|away|off|warm|cool|dry"
        r"|fresh) by (?=\w+ing )",
        "",
    ),
    (r",? because (?:(?! and )[^,.;])*(?=$|[,.;])", ""),
    (
        r",? before (?:it|the (?:rain|storm|wind|draught|cat|dog|kids|children)) (?:(?! and |\bis (?:open"
        r"|closed|shut)\b)[^,.;])*(?=$|[,.;])",
        "",
    ),
    (
        r",? or (?:else )?(?:i|we|he|she|they|somebody|someone) (?:will|might|may"
        r"|could) (?:(?! and )[^,.;])*(?=$|[,.;])",
        "",
    ),
    (
        r",? (?:as|for|since) (?:my|our|somebody|someone|everyone|everybody) (?:\w+ )?(?:is|am|are|was"
        r"|were|feels?|gets?|has|have)"
        r"(?:(?! and |\bnot\b)[^,.;])*(?=$|[,.;])",
        "",
    ),
    (
        r"\b(?:back )?(?:to )?where (?:it|they) (?:belongs?|lives?|goes|go|should (?:be|go)|ought to be"
        r"|came from)(?: to)?,? (?=(?:in|on|at|into|onto|to) (?:the|its) )",
        "",
    ),
    (
        r"\b(?:back )?(?:to )?where (?:it|they) (?:belongs?|lives?|goes|go|should (?:be|go)|ought to be"
        r"|came from)\b",
        "back",
    ),
    (r"\bover (?:there|here),? (?=(?:to|at|in|into|on|onto) the )", ""),
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
    (rf"\b(?:with|using|by using) (?:your|the|its|a|one|both)(?: \w+)? (?:{BODY})\b", ""),
    (rf"\b(?:use|take) (?:your|the|its) (?:{BODY}) (?:to|and) (?!the\b|that\b|my\b)(?=\w)", ""),
    (
        rf"\b(?:lower|raise|lift|move|stretch|extend|bring|reach)(?: out| down| up"
        rf"| over)? (?:with )?(?:your|the) (?:{BODY})"
        r"(?: out| down| up| over)*,? (?:and|to) (?=(?!the\b)\w)",
        "",
    ),
    (
        rf"\b(?:move|bring|get|guide|steer|take|position|place|put|drive|send|extend|stretch"
        rf"|reach)(?: out| down| up| over)? "
        rf"(?:your|the) (?:{BODY})(?: over| out| up| down)? "
        r"(?:to(?:wards?)?|at|onto|over|above|to touch) (?=the\b)",
        "reach ",
    ),
    (r"\breach (?:out )?(?:to|for|towards?) (?=the\b)", "reach "),
    (rf"(?:^|(?<=[,.;] ))(?:(?:the|your) )?(?:{BODY}) (?:to|at|onto|over|above) (?=the\b)", "reach "),
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

without_asides = table(_ASIDES)
"""Cuts what stands beside an order, in a text without contractions."""
