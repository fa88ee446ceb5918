"""Turns of phrase, rewritten as plain orders: "give the button a push" is "push the button".

Each rule cuts words that say how, why or with what, never words that say what not to do: the parser refuses
prohibitions, conditions and exceptions before it comes here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from openral_reasoner.vocabulary import is_verb, words

_THING = r"(?P<thing>(?:the|that|this|my) \w+(?: \w+)?)"
_PARTS = "handle|knob|grip|edge"
_WEATHER = "cold|chilly|freezing|hot|warm|stuffy|raining|windy|dark|bright|noisy|late"


def _verb_first(match: re.Match[str]) -> str:
    """ "give the button a push" -> "push the button", if what was given is a verb."""
    return f"{match['verb']} {match['thing']}" if is_verb(match["verb"]) else match[0]


def _purpose(match: re.Match[str]) -> str:
    """ "let some air in by opening the window" -> "opening the window", if the first half is no order itself."""
    own_order = any(is_verb(word) for word in words(match["purpose"]))
    return match[0] if own_order else match["order"]


_RULES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\b(?:let's|lets|let us) (?:have|get) "), "get "),
    (re.compile(rf"^it(?:'s| is)(?: so| very| too)? (?:{_WEATHER})(?: \w+)?, "), ""),
    (
        re.compile(
            rf"\b(?:grab|grasp|take|hold|use|with|by)(?: hold of)? (?:the|its|that) (?:{_PARTS})(?:,? (?:and|to|then))?"
            r"(?= \w)"
        ),
        "",
    ),
    (re.compile(rf"\bgive {_THING} an? (?:\w+ )??(?P<verb>\w+)\b"), _verb_first),
    (
        re.compile(
            r"\b(?:move|go|reach|come)(?: down| up| over)? (?:on|in)?to(?:wards?)? "
            rf"{_THING} and (?P<verb>\w+) it\b"
        ),
        _verb_first,
    ),
    (re.compile(rf"\b(?:take|get|catch) hold of {_THING} and (?P<verb>\w+) it\b"), _verb_first),
    (re.compile(r"^(?P<purpose>[^,;.]+?) by (?P<order>\w+ing .+)$"), _purpose),
)


def plain(text: str) -> str:
    """Return the text with every known turn of phrase replaced, lower case in, lower case out."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text).strip()
    return text
