"""Splits orders into segments in their order of execution, and resolves the pronouns and gaps in them."""

from __future__ import annotations

import re

_JOINTS = (
    r",?\s*\b(?:(?:and )?(?:then|after that|afterwards|finally|lastly|last of all|at the (?:very )?end)|"
    r"and (?:next|also)|thereafter|followed by|and|but|plus|so)\b\s*,?"
)
_CUT = re.compile(rf"\s*(?:[;\n.!?]+(?=\s|$)|,\s*{_JOINTS}|{_JOINTS}|,|&|\s-\s|:(?=\s))\s*")
_FIRST = re.compile(
    r"^(?:and |then )?(?:before anything else|first of all|first|firstly|second|secondly|third|thirdly|next|"
    r"finally|last of all|lastly|last|afterwards|at the (?:very )?end|to (?:wrap|round|finish) (?:it )?(?:up|off):?|"
    r"(?:start|begin|finish|end) (?:by|with)|after that|then|also|both)\b,?\s*"
)
_BEFORE_FRONT = re.compile(r"^(?:before|prior to) (?!anything|all)(?P<late>[^,]+),\s*(?P<early>.+)$")
_AFTER_FRONT = re.compile(r"^(?:after|once|as soon as) (?!that\b|all\b)(?P<early>[^,]+),\s*(?P<late>.+)$")
_BEFORE = re.compile(r"^(?P<early>.+?),? (?:before|prior to) (?=you\b|\w+ing\b)(?P<late>.+)$")
_AFTER = re.compile(
    r"^(?P<late>.+?),? (?:(?:after|once|as soon as) (?=you\b|\w+ing\b|having\b)|"
    r"when (?=you(?: have|'ve| are) (?:finished|done|through)\b))(?P<early>.+)$"
)
_FINISHED = re.compile(r"^(?:you(?: have|'ve| are)? )?(?:finished|done|through)(?: with)? (?=\w+ing\b)")
_BUT_FIRST = re.compile(r"^(?P<late>.+?),? but (?:first (?P<one>.+)|(?P<two>.+) (?:first|beforehand))$")
_DONE = re.compile(r"^(?:you have|you've|having)\s+(?=\w+(?:ed|t|n|d)\b)")
_YOU = re.compile(r"^(?:you are|you're|you)\s+")
_TAG = re.compile(
    r"^(?:(?:would|will|could|can|won't|will not|do|did) you|please|will you please|in that order|ok|okay|yes|right|"
    r"thanks|now|again)$"
)
"""Segments without a meaning of their own."""
_LIST = re.compile(r"(?:^|(?<=\s))(?:\d+[.)]|[-*•])\s+")
_STOP = (
    r"(?:in|into|on|onto|at|to|from|of|off|out|up|down|over|under|with|by|for|and|or|then|is|are|was|be|has|should|must|"
    r"needs|need|open|opened|closed|shut|so|because|please|now|again|back|away|inside|until|if|when|where|that|which|"
    r"around|upside|through|too|as|wide|it|halfway|has|have|will|can|could|would|ought|wants|first|after|before|twice|once)"
)
_DETERMINER = r"(?:the|this|that|these|those|my|our|your|a|an|its|their|his|her)"
_WRAPPED = re.compile(
    rf"(?<=\w)[^\S\n]*\n[^\S\n]*(?=(?:{_DETERMINER}|it|them|in|into|on|onto|at|to|from|of|off|out|over|under|with|by)\b)|"
    rf"(?<=\bthe)\s*\n"
)
"""A line break within a clause, recognised by a next line that begins no order, or a line that ends none."""
_PHRASE = re.compile(
    rf"\b{_DETERMINER}\s+(?:(?!{_STOP}\b)\w[\w'-]*)(?:\s+(?!{_STOP}\b|\w+(?:ly|ed|ing)\b)\w[\w'-]*){{0,2}}"
)
_PRONOUN = re.compile(
    r"\b(?:it|them|both|that one|this one|the same|that|this)\b(?!\s+\w+(?:'s)?\s+(?:is|are)\b)"
)
_OBJECT = re.compile(r"\b(?:it|them|both)\b")


def unwrapped(text: str) -> str:
    """Return a text without line breaks within a clause, as where "open" stands above "the drawer".

    Blanks in a row become one, and so do line breaks: the time of many patterns grows with the cube of their number.
    """
    lines = (" ".join(line.split()) for line in text.splitlines())
    return _WRAPPED.sub(" ", "\n".join(filter(None, lines)))


def phrases(clause: str) -> list[str]:
    """Return the noun phrases with a determiner, such as "the green cube", in their order."""
    return [match[0] for match in _PHRASE.finditer(clause)]


def separates(joint: str) -> bool:
    """Return whether the words after a joint, such as "then" or "finally", are certainly another order."""
    return re.search(r"then|next|after|finally|lastly|followed", joint) is not None


def adds(joint: str) -> bool:
    """Return whether the words after a joint, such as "and", are one more order, and not the same in other words."""
    return re.search(r"\band\b|plus|also", joint) is not None or separates(joint)


def is_manner(clause: str) -> bool:
    """Return whether a clause says only how something is to be done, such as "carefully" or "be gentle"."""
    return clause.startswith("be ") or all(word.endswith("ly") for word in clause.split())


def has_pronoun(clause: str) -> bool:
    """Return whether a clause has a pronoun as its object."""
    return _OBJECT.search(clause) is not None


def ordered(text: str) -> list[str]:
    """Return the parts of a text in their order of execution, split only where words such as "before" change it."""
    parts = []
    text = re.sub(rf"\bboth (?={_DETERMINER}\b.* and\b)", "", text)
    for line in re.split(r"\n|(?<=[.;!?])\s+", _LIST.sub("\n", text) if _LIST.match(text) else text):
        parts += _turned(line.strip(" ,.;!"))
    return [part for part in parts if re.search(r"\w", part)]


def _turned(part: str) -> list[str]:
    for pattern in (_BEFORE_FRONT, _AFTER_FRONT, _BUT_FIRST, _BEFORE, _AFTER):
        if match := pattern.match(part):
            found = match.groupdict()
            early = found.get("early") or found.get("one") or found.get("two") or ""
            late = found["late"]
            if pattern in (_AFTER_FRONT, _AFTER, _BEFORE, _BEFORE_FRONT):
                early, late = (
                    _YOU.sub("", _DONE.sub("i want you to have ", _FINISHED.sub("", each)))
                    for each in (early, late)
                )
            if not phrases(early) and phrases(late):
                early = _OBJECT.sub(phrases(late)[0], early, count=1)
            return [*_turned(early), *_turned(late)]
    return [part]


def segments(part: str) -> list[tuple[str, str]]:
    """Split a part at its joints into segments, each with the joint before it: (joint, segment)."""
    found: list[tuple[str, str]] = []
    joint, begin = "", 0
    for match in [*_CUT.finditer(part), None]:
        end = match.start() if match else len(part)
        said = part[begin:end].strip(" ,.;!?")
        piece = _FIRST.sub("", said).strip()
        if piece != said:
            joint = f"{joint} then"  # "finally", "first"
        if re.search(r"\w", piece) and not _TAG.match(piece):
            found, joint = [*found, (joint, piece)], ""
        if match:
            joint, begin = joint or match[0], match.end()
    return found


def readings(segment: str, before: str, named: list[str], behind: str) -> list[str]:
    """Return the possible readings of a segment such as "close it" or "the window", the plainest first.

    Args:
        segment: as it was said.
        before: the resolved clause before it.
        named: noun phrases of the latest clause that has any.
        behind: the segment after it.
    """
    found = [segment]
    if match := _PRONOUN.search(segment):
        for phrase in named[:1]:
            found.append(segment[: match.start()] + phrase + segment[match.end() :])
    short = len(segment.split()) <= 5
    known = phrases(before)
    if before and known and short and not has_pronoun(segment):
        head, _, tail = before.partition(known[0])
        own = phrases(segment)
        thing = own[0] if own else segment
        found.append(f"{head}{thing}{'' if own and segment != thing else tail}{segment.partition(thing)[2]}")
        if not own:
            found.append(f"{head}the {segment}{tail}")
            found.append(f"{segment} {known[0]}")
    if before and not known and short and len(before.split()) <= 4:
        found.append(f"{before.split()[0]} {segment}")
    if not phrases(segment) and short and not has_pronoun(segment) and phrases(behind):
        found.append(f"{segment} {phrases(behind)[0]}")
        verb, _, rest = segment.partition(" ")
        if rest:
            found.append(f"{verb} {phrases(behind)[0]} {rest}")
    return list(dict.fromkeys(" ".join(reading.split()) for reading in found))


_MOVED = re.compile(
    rf"(?P<one>{_PHRASE.pattern})(?: \w+){{0,3}}? (?:into|in|onto|on|to|on top of|inside|down|over) "
    rf"(?P<two>{_PHRASE.pattern})"
)


def is_swapped(clause: str, example: str) -> bool:
    """Return whether a clause exchanges thing and place of an example: "put the hole on the peg"."""
    said, known = _MOVED.search(clause), _MOVED.search(example)
    if said is None or known is None:
        return False
    one, two = (frozenset(known[part].split()[1:]) for part in ("one", "two"))
    first, second = (frozenset(said[part].split()[1:]) for part in ("one", "two"))
    return bool((one - two) & (second - first) and (two - one) & (first - second))
