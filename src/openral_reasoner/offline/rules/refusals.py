"""What the rules must not touch: questions, prohibitions, choices, measures, and words that are no order at all."""

from __future__ import annotations

import re

QUESTION = re.compile(
    r"^(?:what|who|why|how|where|which|is|are|was|were|did|does|do you|(?:has|have) (?:the|it|you|i|he"
    r"|she|they|somebody"
    r"|someone|anyone|that|this)|would you like me|(?:shall|should|may|can|could) i (?!have|get)"
    r"|tell me|explain|show me|i wonder)\b"
)
_NUMBER = (
    r"(?:\d+(?:\.\d+)?|half an?|one|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|fifty|hundred)"
)
_UNIT = (
    r"(?:mm|cm|m|millimet(?:er|re)s?|centimet(?:er|re)s?|met(?:er|re)s?|inch(?:es)?|feet|foot|degrees?"
    r"|deg|°|percent|%|newtons?"
    r"|n|kg|grams?|g|ml|lit(?:er|re)s?|s|ms|sec|secs|seconds?|min|mins|minutes?|hours?|days?|cm/s|m/s"
    r"|rpm|o'clock)"
)
REFUSALS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"\b(not|never|nobody|no one|none|nothing|nowhere|without|avoid\w*|cannot|refrain\w*"
            r"|forbid\w*|forbidden"
            r"|prohibit\w*|prevent\w*|refuse|no need|no reason|no longer|keep (?:away|off|clear|out)"
            r"|stay\w*|remain\w*|(?:you|be) (?:left|kept|held)"
            r"|forget\w*|leave|hands off|stop \w+ing|under no|let .* be)\b"
        ),
        "it forbids something, and I only know what to do",
    ),
    (
        re.compile(r"\b(except|but|apart from|rather than|instead)\b"),
        "it makes an exception, and I only know plain orders",
    ),
    (
        re.compile(
            r"\b(if|unless|until|till|while|when|whenever|in case|as long as|as soon as|either|or"
            r"|maybe|perhaps)\b"
        ),
        "it has a condition or a choice that I cannot judge",
    ),
    (
        re.compile(
            r"\b(twice|thrice|\w+ times|forever|endlessly|repeatedly|repeat|keep \w+ing|every|each"
            r"|everything|always"
            r"|again and again|both \w+s|all (?:of )?(?:the )?\w+s|(?:any|some|one) of)\b"
        ),
        "it repeats something or means several things at once; name each task",
    ),
    (
        re.compile(
            r"\ba (?:little|bit|tad|crack)\b|\bajar\b|\bpart of the way\b|\bhalf ?-?way\b"
            r"|\bhalf (?:open|closed|shut)\b"
        ),
        "it asks for a part of a task, and I only know whole ones",
    ),
    (
        re.compile(rf"(?:^|\s){_NUMBER}[\s-]?{_UNIT}(?=$|[\s,])"),
        "it gives a measure, and I only know whole tasks",
    ),
    (
        re.compile(r"\b(?:tomorrow|yesterday|later|tonight|o'clock|next (?:week|time))\b"),
        "it speaks of another time",
    ),
    (QUESTION, "it is a question, not an order"),
)
"""Sentences the rules must not touch, and why; the first that applies is told to the operator."""

_NO_ORDER: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"^(?:it|that|this|i|we|he|she|they) (?:is|am|are|was|were|would be"
            r"|feels?) [^,]*, \w+ing (?:the|that|my|it)\b"
        ),
        "it says what somebody thinks of it, not what to do",
    ),
    (
        re.compile(
            r"^(?:i|we|he|she|they) (?:was|were|am|are|have been|has been|had been) (?:told|asked"
            r"|ordered|instructed)\b"
        ),
        "it says what somebody was told, not what to do",
    ),
    (
        re.compile(
            r"^(?:please |just )?(?:check|verify|confirm"
            r"|test) that\b"
        ),
        "it is a question, not an order",
    ),
    (
        re.compile(
            r"\b(?:rather|prefer|like|if|glad|nice|wish)(?: it)?(?: if| that)? you (?:left|kept|held|leave"
            r"|keep)\b"
        ),
        "it forbids something, and I only know what to do",
    ),
    (
        re.compile(
            r"^(?:many |so |very )?(?:thanks|thank you|cheers|sorry|apologies|well done|bravo|(?:good|nice"
            r"|great) (?:job|work|one))"
            r"(?: \w+){0,3}? (?:for|about|on|with|in) (?!me\b|us\b)|^(?:well done|bravo|sorry),? \w+ing\b"
        ),
        "it speaks of what is past",
    ),
    (
        re.compile(r"^(?:please )?(?:imagine|suppose|assume|pretend|picture|fancy that|dream)\b"),
        "it only imagines something",
    ),
    (
        re.compile(
            r"^(?:i|we|you|they|people) (?:really |do |just |always |also )*(?:like|love|enjoy|hate"
            r"|prefer) (?:the|an?|it|my|that)\b"
        ),
        "it says what somebody likes, not what to do",
    ),
    (
        re.compile(r"^an? (?:\w+ )?(?:open|opened|closed|shut) \w+$"),
        "it names something and says nothing of it",
    ),
    (
        re.compile(r"^(?:please )?(?:close|near|next|open|adjacent) to (?:the|that|this|my)\b"),
        "it says where, not what to do",
    ),
    (
        re.compile(
            r"^(?:should|might|could|can|would|will|may) (?:the|that|this|my) \w+(?: \w+)? (?:be|stand"
            r"|stay) open\b(?! up)(?=.*\?|$)"
        ),
        "it is a question, not an order",
    ),
)
"""Sentences whose first words say that no order comes, whatever stands behind them."""
_SENTENCE = re.compile(r"[.;\n!]")


def no_order(text: str) -> str:
    """Why one of a text's sentences says nothing that is to be done; empty: none does.

    Args:
        text: lower case, without contractions.
    """
    for part in _SENTENCE.split(text):
        for pattern, reason in _NO_ORDER:
            if pattern.search(part.strip(" ,?")):
                return reason
    return ""
