"""Short and spoken forms, written out: "don't" is "do not", "pls" is "please", "um" is nothing."""

from __future__ import annotations

import re

_CONTRACTIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(short), long)
    for short, long in (
        (r"\bwon't\b", "will not"),
        (r"\bcan't\b", "cannot"),
        (r"(?<=\w)n't\b", " not"),
        (r"\b(do|does|did|is|are|was|were|has|have|had|should|must|need|could|would)nt\b", r"\1 not"),
        (r"\bcant\b", "cannot"),
        (r"\bwont\b", "will not"),
        (
            r"\b(?:cannot|(?:could|will|would) not) you (?=(?:just |please )?\w+ (?:the|that|this|my)\b)",
            "can you ",
        ),
        (r"\b(i|we|you|he|she|they|it|that)'d\b", r"\1 would"),
        (r"'re\b", " are"),
        (r"'s (?=(?:still |already )?(?:open|opened|closed|shut|out|in)\b)", " is "),
        (
            r"'s (?=(?:not|been|stuck|jammed|still|wide|getting|going|become|too|so|very|all)\b"
            r"|\w{2,}ing\b)",
            " is ",
        ),
        (r"'ll\b", " will"),
        (r"'ve\b", " have"),
        (r"\bi'm\b", "i am"),
        (r"\blet'?s\b", "let us"),
        (r"\b(?:plz|pls)\b", "please"),
        (r"\b(?:u|ya)\b", "you"),
        (r"\bwanna\b", "want to"),
        (r"\bgonna\b", "going to"),
        (r"\blemme\b", "let me"),
        (r"\bgimme\b", "give me"),
        (r"\b(?:gotta|have got to)\b", "have to"),
        (r"\bthx\b", "thanks"),
        (r"(?<=\byou should )(?:probably|really|also|just|now) ", ""),
        (r"(?<=\b(?:open|shut) and )(?=(?:should|must|needs to|has to|ought to) be\b)", "it "),
        (
            r"\b(?:still|really|certainly|definitely) (?=(?:has|have|needs?|wants?|should|must|ought|want"
            r"|need|like) )",
            "",
        ),
        (r"\bbinned\b", "put in the bin"),
        (r", (?:do|does|is|are|can|could|will|would|should) not (?:we|you|it|i|they)(?=\s*(?:$|[.!?]))", ""),
        (r", (?:right|ok|okay|yeah|yes|eh|innit)(?=\s*(?:$|[.!?]))", ""),
        (r"\bon top of\b|\batop\b|\bupon\b(?= (?:the|that|this|my|green|red)\b)", "onto"),
        (r"\b(?:(?:on|right|back|straight|up) )?(?:over|across|along) to\b|\bright up to\b", "to"),
        (r"(?<!\bend )(?<!\bends )\bup (?=onto\b|on the\b|on that\b)", ""),
        (r"\bnext to\b", "beside"),
        (r"\b(it|that|there|what|he|she|who|where)'s\b", r"\1 is"),
    )
)
"""Applied one after the other."""
_SPOKEN = re.compile(
    r"\b(?:u[mh]+|e[hr]+m?|hm+|oh|ah|ooh|tut|blimey|br+|phew|whew|ugh|ouch|crikey|gosh|yo|oi|ahem"
    r"|basically)\b[, ]*"
    r"|(?:^|(?<=[.;!?] ))(?:right then|right|look|listen|anyway|alright|righto|come on|now then|hang on"
    r"|hold on|quick|look here"
    r"|you know|you know what)\s*,\s*"
    r"|,? (?:ta(?: very much)?|cheers|(?:thanks|thank you|ta)(?: very| so)? (?:much|a lot|a million"
    r"|in advance|kindly)|mate|buddy|pal|dude|bro|folks|love|chum|old (?:chap|boy|thing))(?=\s*(?:$|[,.;!?]))"
    r"|,? (?:pronto|sharpish|chop chop|stat|double quick|(?:right )?this (?:instant|minute|second|moment)"
    r"|for (?:a start"
    r"|starters|now|the time being|once)|in a jiffy)(?=\s*(?:$|[,.;!?]))"
    r"|,? for (?:god|heaven|goodness|pity|crying)(?: out loud|'?s sake)\b|\bif you(?: wo| do)? not mind\b"
    r"|\bpretty (?=please\b)"
)
"""Sounds, forms of address and fillers: they neither order nor forbid."""


def spelled_out(text: str) -> str:
    """Lower case, without contractions: "Don't" is "do not", "it's" is "it is"."""
    text = text.lower().replace("’", "'").replace("a.s.a.p.", "asap")
    for short, long in _CONTRACTIONS:
        text = short.sub(long, text)
    return _SPOKEN.sub("", text)
