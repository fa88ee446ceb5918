"""Turns of phrase about where something goes: the gripper to a place, a thing to another, up, or onto a stack.

A clause behind these rules has one verb of motion, its thing, and the place behind a preposition.
"""

from __future__ import annotations

from openral_reasoner.offline.rules.turns import BODY, IT, SIZE, THING, Rule, table

_AT = r"(?:to(?:wards?)?|at|on|onto|over|above|by)"
_REACHING: tuple[Rule, ...] = (
    (
        rf"\b(?:the|your|that) (?:{BODY}) (?:should|must|needs to|has to|ought to) (?:touch|reach|meet"
        r"|approach)(?: on)? (?=the )",
        "reach ",
    ),
    (
        rf"^{THING}, (?:please |just |can you |could you )*(?:go|move|head|reach|come|get)(?: over"
        r"| out)? (?:to|for|towards) it\b",
        r"reach \g<thing>",
    ),
    (rf"\b(?:line|align)(?: up)? (?:the|your) (?:{BODY}) (?:up )?(?:with|to|over|above) (?=the )", "reach "),
    (
        rf"\b(?:can|could|would|will|may) (?:the|your|that) (?:{BODY}) (?:please )?(?:be|go|get|move|come"
        rf"|travel)(?: over| across| up)? {_AT} (?=the )",
        "reach ",
    ),
    (
        rf"\b(?:want|need|like|have|let|prefer|see) (?:the|your|that) (?:{BODY})(?: to)?(?: be| go| get| move"
        rf"| come| sit)?(?: over| up| right)? {_AT} (?=the )",
        "want you to reach ",
    ),
    (
        r"\b(?:(?:i|we) (?:would )?)?(?:have|get|make|let|want|need|like) (?:the|your"
        rf"|that) (?:{BODY}) (?:to )?(?:touch|reach|meet|approach"
        r"|contact|tap)(?: on)? (?=the )",
        "reach ",
    ),
    (
        rf"\b(?:the|your|that) (?:{BODY}) (?:(?:should|must|needs to|has to|ought to|wants to|is to"
        r"|can) (?:be|go|get|move|come|travel)"
        r"(?: over| across| up)?|belongs|goes)(?: right)? (?:to(?:wards?)?|at|on|onto|over|above) (?=the )",
        "reach ",
    ),
    (
        r"(?P<before>^|[,.;] |\b(?:and|you|you to|please|just|us|mind|by) )(?:(?:make|find|work) (?:your"
        r"|its) way"
        r"|(?:get|hover|head|fly|steer|navigate|go|move|come|return|drive|bring|take|position|travel"
        r"|getting|heading|going|moving|coming|returning|went|moved|came|stretch"
        r"|reach)(?: yourself)?)(?: over| across"
        r"| up| straight| on| right)*"
        r" (?:to|towards?|above|over|onto) (?=the )",
        r"\g<before>reach ",
    ),
    (
        r"\b(?:extend|stretch|move|reach|lower|bring|steer|guide|drive)(?: out)? (?:your"
        rf"|the) (?:{BODY})(?: out| forward| over)?"
        r"(?: until| till| so)?(?: that)?(?: it| they)? (?:reaches|reach|touches|touch|is at|gets to"
        r"|is over|is on|meets) (?=the )",
        "reach ",
    ),
    (
        r"\b(?:put|place|rest|lay|set|move|bring|take|lower|drop|raise|lift|park|position|point|send|have"
        rf"|land|plant|stick)(?:d|ed)? (?:your|the|an?|one) (?:{BODY})(?: right| over| up)? (?:to|on|onto|at|over"
        r"|above) (?=the )",
        "reach ",
    ),
)
_STACKING: tuple[Rule, ...] = (
    (
        r"\b(?:make|build|form|create|do|construct|get)(?: me| us)? (?:a|an|one) (?:little |small "
        r"|neat )?(?:stack|tower|pile|column)"
        r" (?:out of|of|from|with|using) (?:both |all )?(?:of )?(?:the |these |those )?(?:two )?(?=\w)",
        "stack the ",
    ),
    (r"\bpil(?:e|ed|ing)(?: up)? (?=the |them\b|it\b)", "stack "),
    (
        r"\bstack(?P<form>ed|ing)?(?P<up> up)? (?:both |the |both the |both of the )?two (?=\w+s\b)",
        r"stack\g<form> the ",
    ),
    (
        r"\b(?:(?:put|place|set|lay|stack|sit|rest"
        r"|balance) )?(?:the )?one (?:of the )?(?P<noun>\w+?)s? (?:on|onto|atop"
        r"|upon) (?:the other(?: one)?|another)\b",
        r"stack the \g<noun>s",
    ),
    (
        r"\b(?:put|place|set|lay|stack) (?P<thing>the \w+s) (?:on|onto|atop|upon) (?:each other"
        r"|one another)\b"
        r"|\b(?:put|place|set|lay|stack) (?P<things>the \w+s) one (?:on|onto|atop|upon) (?:the other"
        r"|another)\b",
        lambda match: f"stack {match['thing'] or match['things']}",
    ),
)
_LIFTING: tuple[Rule, ...] = (
    (
        r"\b(?:get|lift|raise|hold|put|pick|take|grab|bring|hoist|fetch"
        rf"|pluck)(?: up)? {IT} (?:up )?(?:high )?(?:up )?"
        r"(?:in(?:to)? the air|(?:clear of|clear off|up from|from|away from|off) the (?:table|tabletop"
        r"|desk|surface|floor|ground|worktop|counter)|off of the (?:table|desk))\b",
        r"lift \g<thing>",
    ),
    (
        rf"{THING} (?:should|must|needs to|has to|ought to) (?:be|go|come|get) (?:up "
        r"|high )*(?:in(?:to)? the air|off the (?:table|desk|surface))\b",
        r"lift \g<thing>",
    ),
    (
        r"\bhold (?P<thing>it|(?:the|that|this|my) \w+(?: \w+)?) (?:up|aloft|high|up high|high up"
        r"|in the air|up in the air)\b",
        r"lift \g<thing>",
    ),
    (
        rf"{THING} (?:should|must|needs to|has to|ought to|wants to) (?:come|go) up(?: now| please)?(?=$"
        r"|[,.;!?])",
        r"lift \g<thing>",
    ),
    (r"\bbring (?P<thing>(?:the|that) \w+(?: \w+)?) up(?=\s*(?:$|[,.;!?]))", r"lift \g<thing>"),
    (r"\bhold (?:up|aloft) (?=the |it\b|that )", "lift "),
)
_PLACING: tuple[Rule, ...] = (
    (r"\baway (?=(?:in|into|inside|to) (?:the|its) )", ""),
    (rf"\b(?P<verb>throw|tidy|clear|tuck|toss|chuck) away {THING}(?= (?:in|into|inside))", r"put \g<thing>"),
    (rf"\b(?:clear|tidy) {THING}(?= (?:in|into|inside) )", r"put \g<thing>"),
    (
        r"\b(?:put|place|set|drop) (?P<thing>(?:the|that) \w+) (?P<place>(?:on|at|in|to|onto"
        r"|into) the \w+),? after (?:picking|lifting|grabbing|taking)"
        r"(?: up)? (?:it|the \w+)(?: up)?\b",
        r"pick up \g<thing> and place it \g<place>",
    ),
    (
        rf"\b(?:get|move|bring|send) {THING} (?P<place>(?:to|onto"
        rf"|at) the \w+) with an? {SIZE}(?P<verb>push|shove|nudge|slide)\b",
        r"\g<verb> \g<thing> \g<place>",
    ),
    (rf"\bput away {THING}(?= (?:in|into|inside|at|on))", r"put \g<thing>"),
    (
        r"^(?P<thing>(?:the|that|this|my) \w+(?: \w+)?)(?: \w+){0,3}? (?:goes|go|belongs?|be|is|ends? up"
        r"|sit|get) (?:over |right )?"
        r"(?P<place>(?:to|at|in|on|into|onto) (?:the|its) \w+(?: ball| cube| one)?)[,;.] (?:so |and |then "
        r"|please |just |could you |can you )*(?P<deed>[^,;.]*\bit\b[^,;.]*) there\b",
        lambda match: f"{match['deed'].replace(' it', ' ' + match['thing'], 1)} {match['place']}",
    ),
    (rf"\bsort {THING} (?=in|into)", r"put \g<thing> "),
    (
        r"(?P<deed>\w+ (?:the|that|this|my) \w+(?: \w+)?), (?:because )?it (?:needs to|has to|should|must"
        r"|wants to|ought to|is to)?"
        r" ?(?:get|go|goes|be|end up|come|move|reach|belongs?)(?: over| up)? (?P<prep>to|at|in|on|into"
        r"|onto) (?=the )",
        r"\g<deed> \g<prep> ",
    ),
    (
        r"^(?:(?:the|that|this) )?(?P<noun>\w+)(?: (?:goes|is|belongs|needs to (?:go|get|be)|has to (?:go"
        r"|get|be)|should (?:go|get|be)"
        r"|is for|wants to (?:go|be)))? (?P<place>(?:to|at|in|on|into|onto) (?:the|its) \w+)[,;.] (?:so "
        r"|and |please |could you |can you )*"
        r"(?P<verb>\w+) it (?:up first|there|over there|in there|over|in|first|across|along)(?=$|[,.;])",
        r"\g<verb> the \g<noun> \g<place>",
    ),
    (
        r"(?P<front>\b(?:take|bring|carry|move|lift|get|transport) (?:the|that|this) \w+(?: \w+)?(?: over"
        r"| up| across)? (?:to|onto) the \w+)"
        r",? (?:and|then|and then) (?:put|set|drop|lay|place|leave|release|let) (?:it"
        r"|go)(?: of it)?(?: down| there| off| go)*(?=$|[,.;])",
        r"\g<front>",
    ),
    (r"^use (?P<thing>the \w+)(?: and|,|, and) (?=\w+ it\b)", r"\g<thing>, "),
    (
        r"(?:^|(?<=[,.;] ))get (?:the|that) door(?=\s*(?:$|[,.;!?]))(?!.*\b(?:open|pull|swing)\b)",
        "open the door",
    ),
)

PLACED: tuple[Rule, ...] = (*_PLACING, *_STACKING, *_LIFTING)
"""Rules for things that are put, lifted or stacked; for a text whose frames are cut."""
reached = table(_REACHING)
"""Rewrites every way of sending the gripper somewhere as "reach the …"; before frames are cut, which begin alike."""
