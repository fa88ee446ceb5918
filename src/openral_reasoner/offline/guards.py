"""Patterns that are refused whatever the matcher says: negations, choices, measures, quotations, "everything"."""

from __future__ import annotations

import re

_HARMLESS = re.compile(
    r"^(?:hold on|hang on|one moment), |"
    r"\b(?:(?:please )?do not (?:forget|hesitate|worry|be shy)(?: to| about)?|why do not you|if you do not mind|"
    r"(?:can|could|will|would) you not(?= please)|not only|no (?:problem|worries|hurry|rush|doubt|matter)|"
    r"if (?:it is|that is) not too much (?:trouble|bother)|never mind me|without (?:delay|fail))\b"
)
_NEGATION = re.compile(
    r"\b(?:not|never|no|nobody|none|nothing|nowhere|neither|nor|without|avoid\w*|cannot|refrain\w*|forbid\w*|forbidden|"
    r"prohibit\w*|prevent\w*|except|instead|rather than|apart from|hands off|cancel\w*|abort|anything but|"
    r"(?:must|should|can|may|has to) (?:stay|remain)|stop \w+ing)\b|"
    r"(?:^|please |just |and |you |to |better )(?:leave|keep|ignore|forget|skip|spare)\b"
)
_TOLD = re.compile(
    r"\b(?:i|we|they|he|she|it|there|nobody|that|this|the \w+|my \w+|anyone|which|what)(?: \w+)? "
    r"(?:(?:is|are|was|were|can|could|do|does|did|has|have|had|will|would|should|need) (?:not|no longer|never|no)|"
    r"cannot|never)\b|\b(?:nobody|nothing|there is no|no \w+ (?:is|are|was|left)|never mind)\b"
)
_NUMBER = r"(?:\d+(?:[.,]\d+)?|half an?|one|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|fifty|hundred)"
_UNIT = (
    r"(?:mm|cm|m|(?:milli|centi)?met(?:er|re)s?|inch(?:es)?|feet|foot|degrees?|deg|°|percent|%|newtons?|n|kg|grams?|g|ml|"
    r"lit(?:er|re)s?|s|ms|secs?|seconds?|min|mins|minutes?|hours?|days?|cm/s|m/s|rpm|o'clock)"
)
_REFUSED = {
    rf"(?:^|\s){_NUMBER}[\s-]?{_UNIT}(?=$|[\s,.])": "it gives a measure, and I only know whole tasks",
    r"\b(?:either|or)\b": "it leaves a choice that I cannot make",
    r"\b(?:half-?way|halfways|a (?:little|bit|tad|touch)|ajar|partly|partially|half (?:open|shut)|nearly|almost)\b": (
        "it asks for a part of a task, and I only know whole ones"
    ),
    r"\b(?:every|each|everything|forever|repeatedly|endlessly|all (?:of )?(?:the )?\w+s|(?<!do )something|anything)\b"
    r"(?! else)": "it means several things at once, or none in particular; name each task",
    r"\b(?:tomorrow|yesterday|tonight|later|next (?:week|time|month))\b": "it speaks of another time",
    r"(?<!\w)'[^']{3,}'(?!\w)|\"[^\"]{3,}\"|“[^”]+”|\b(?:says?|said|reads?|wrote|written|shouted|goes): ": (
        "it quotes what somebody says"
    ),
}
_SHORT = {
    r"\bwon't\b": "will not",
    r"\b(?:can't|cant)\b": "cannot",
    r"\b(do|does|did|is|are|was|were|has|have|should|must|could|would|need|had)n'?t\b": r"\1 not",
    r"\b(it|that|there|what|he|she)'s\b": r"\1 is",
}


def spelled_out(text: str) -> str:
    """Return a text in lower case, with one kind of apostrophe, and with "not" and "is" in place of short forms."""
    text = text.lower().replace("’", "'").replace("‘", "'")
    for short, long in _SHORT.items():
        text = re.sub(short, long, text)
    return _HARMLESS.sub(" ", text).strip()


def refused(text: str) -> str:
    """Return why a text is refused as an order; empty: it is not."""
    return next((reason for pattern, reason in _REFUSED.items() if re.search(pattern, text)), "")


def negates(clause: str) -> bool:
    """Return whether a clause holds a negation, or a word such as "leave" or "keep"."""
    return _NEGATION.search(clause) is not None


def only_tells(clause: str) -> bool:
    """Return whether a clause states a negation and does not order one, such as "i can not reach it"."""
    return _TOLD.search(clause) is not None and re.match(r"(?:do|please do|you|never)\b", clause) is None
