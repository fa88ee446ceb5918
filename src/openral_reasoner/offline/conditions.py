"""Separates the conditions and repetitions of a sentence from its orders.

A sentence becomes passages in their order: plain orders, and orders with "if", "unless", "when", "otherwise", "until"
or "three times" around them. A condition applies to the words with it up to "then", a semicolon or a full stop. A
condition that is not understood for certain makes the whole sentence refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

MAX_TIMES = 10
"""Most rounds of "n times"."""


class NoPlan(Exception):
    """The sentence is refused, so that nothing of it is done; the text says why, as half a sentence."""


@dataclass(frozen=True)
class State:
    """The statement of a condition, such as "the drawer is open"."""

    subject: str
    """With its determiner, or a pronoun."""
    predicate: str
    """open; closed; in the hole."""
    negated: bool = False

    @property
    def text(self) -> str:
        """The state in words, without its "not"."""
        return f"{self.subject} is {self.predicate}"

    @property
    def wish(self) -> str:
        """The state as an order: "the drawer should be open"."""
        return f"{self.subject} should be {self.predicate}"


@dataclass(frozen=True)
class Passage:
    """Orders that share a condition and a repetition, or have none."""

    orders: str
    condition: State | None = None
    wait: bool = False
    """Whether the condition is waited for ("when …"); else it is evaluated once ("if …")."""
    otherwise: str = ""
    """Orders where the condition does not hold."""
    until: State | None = None
    times: int = 1


_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = dict(zip(_COUNTED, range(1, 11), strict=True)) | {"once": 1, "twice": 2, "thrice": 3}
_TIMES = r"(?P<times>twice|thrice|once|(?:a )?\w+(?:-\w+)? times|\d+ ?x)"
_IF = (
    r"(?P<word>if|unless|in case|provided that|provided|providing|assuming that|assuming|when|once|as soon as|after|"
    r"should|whenever)"
)
_SUBJECT = r"(?P<subject>it|that|this|(?:the|this|that|my|our) \w+(?: \w+){0,2}?)"
_ADVERBS = (
    r"(?:already |still |currently |now |really |ever |fully |completely |yet |left |found |been |just )*"
)
_BE = r"(?:is|are|was|were|has|have|had|gets|becomes|got|be)"
_STATE = re.compile(
    rf"^{_SUBJECT} {_BE} {_ADVERBS}(?P<no>not )?{_ADVERBS}(?P<predicate>(?!to\b)\w+(?: \w+){{0,4}}?)"
    r"(?: already| yet| now| again| still)?$"
)
_ONE = (
    r"(?:(?:\w+ed|open|shut|on|off|in|out|up|down|full|empty|clean|dirty|running)"
    r"|(?:in|at|on|inside) (?:the|its|that) \w+)"
)
_FRONT = re.compile(rf"(?s)^(?:only |but )?{_IF} (?P<state>[^,]+?)(?:,(?: then)?| then) (?P<orders>.+)$")
_FRONT_CLOSE = re.compile(
    rf"^(?:only |but )?{_IF} "
    rf"(?P<state>(?:it|that|(?:the|this|that|my|our) \w+(?: \w+)??) {_BE} {_ADVERBS}(?:not )?{_ONE}) "
    r"(?P<orders>.+)$"
)
_BACK = re.compile(rf"^(?P<orders>.+?),? (?:but )?(?:only )?{_IF} (?P<state>.+)$")
_UNTIL = re.compile(r"^(?:keep |go on |continue )?(?P<orders>.+?),? (?:until|till) (?P<state>.+)$")
_TIMES_BACK = re.compile(rf"^(?P<orders>.+?),? {_TIMES}(?: in a row| in total| over| to be (?:sure|safe))?$")
_OFTEN = re.compile(rf"\b(?:twice|thrice|(?:\d+|{'|'.join(_COUNTED)}) times)\b")
_TIMES_FRONT = re.compile(rf"(?s)^(?:repeat |do (?:this|the following) )?{_TIMES}\s*,? (?P<orders>.+)$")
_ALL_AGAIN = re.compile(
    r"^(?:and )?(?:do|repeat) (?:all )?(?:that|this|it|so|the same|everything|both)"
    rf"(?: all)?(?: over)?(?: again)? {_TIMES}$"
)
_OTHERWISE = re.compile(
    r"\s*[.;,]?\s*\b(?:or else|otherwise|else|if not|if it is not|if that is not the case)\b,?\s*(?=\w)"
)
_CHECK = re.compile(
    r"\b(?:check|see|find out|look|test|verify)(?: to see)? (?:whether|if) (?P<state>[^,.;]+?)"
    r"(?:,? and|[,.;])\s*(?:if (?:so|it is|that is the case|yes)|in that case|then),? "
)
_MIDDLE = re.compile(r"(?:,? and|,) (?=(?:if|unless|in case)\b)")
_PART = re.compile(
    r"\s*(?:;|\n|[.!?](?=\s|$)|,?\s*\b(?:and then|and after that|after that|then)\b\s*,?|"
    r"(?:(?<=twice)|(?<=thrice)|(?<=times))(?:,? and\b|,))\s*"
)
_THEN = re.compile(rf"(?P<front>\b{_IF} {_SUBJECT} {_BE} {_ADVERBS}(?:not )?{_ADVERBS}{_ONE}),? then ")
_WAITS = ("when", "once", "as soon as", "after")
_WORDS = re.compile(
    r"\b(?:if|unless|in case|provided|providing|assuming|when|whenever|once|as soon as|until|till|otherwise|"
    r"twice|thrice|\w+ times|\d+ ?x|should|after)\b"
)
_POLITE = re.compile(
    r"^(?:you|i|we|possible|"
    r"(?:it|that|this) (?:is|was|would be|does|do)?\s?(?:not )?(?:ok|okay|alright|possible|convenient|"
    r"too much|all right|fine|ready)|there is time|need be|necessary)\b"
)


def passages(text: str) -> list[Passage]:
    """Return the passages of a text in lower case without short forms. Raises NoPlan: a condition is not understood."""
    if not _WORDS.search(text):
        return [Passage(text)]
    text = _CHECK.sub(r"if \g<state>, ", text)
    text = _OTHERWISE.sub(" otherwise ", text)
    text = _THEN.sub(r"\g<front>, ", text)
    found: list[Passage] = []
    for part in _PART.split(text):
        for piece in _MIDDLE.split(part.strip(" ,")):
            orders = piece.strip(" ,")
            if not re.search(r"\w", orders):
                continue
            if again := _ALL_AGAIN.match(orders):
                times = _count(again["times"])
                if times is None or not found:
                    raise NoPlan("I cannot tell what to repeat, or how often")
                found *= times
                continue
            passage = _passage(orders)
            if found and passage == Passage(passage.orders) and found[-1] == Passage(found[-1].orders):
                found[-1] = Passage(f"{found[-1].orders}\n{passage.orders}")
            else:
                found.append(passage)
    return found


def _passage(text: str) -> Passage:
    orders, _, otherwise = text.partition(" otherwise ")
    if text.startswith("otherwise "):
        raise NoPlan('I do not know what the "otherwise" belongs to')
    passage = _conditional(orders)
    if otherwise and passage.condition is None:
        raise NoPlan('there is an "otherwise" and no condition')
    return _repeated(replace(passage, otherwise=otherwise))


def _conditional(text: str) -> Passage:
    for pattern in (_FRONT, _FRONT_CLOSE, _BACK):
        match = pattern.match(text)
        if match is None:
            continue
        said, word = match["state"].strip(" ,"), match["word"]
        state = state_of(said.replace(" be ", " is ", 1) if word == "should" else said)
        if state is None and (word in (*_WAITS, "should") or _POLITE.match(said)):
            continue  # "once you have opened it", "if you could": no condition
        if state is None:
            raise NoPlan(f'I cannot judge the condition "{said}"')
        if word == "whenever":
            raise NoPlan("it has a condition for all times, and I only do what is to be done now")
        if word == "unless":
            state = replace(state, negated=not state.negated)
        return Passage(match["orders"], state, wait=word in _WAITS)
    return Passage(text)


def _repeated(passage: Passage) -> Passage:
    if match := _UNTIL.match(passage.orders):
        state = state_of(match["state"])
        if state is None:
            raise NoPlan(f'I cannot judge whether "{match["state"].strip()}"')
        return replace(passage, orders=match["orders"], until=state)
    front = _TIMES_FRONT.match(passage.orders)
    if front and front["times"] == "once" and not passage.orders.startswith("once,"):
        front = None  # "once you have closed the drawer, …"
    if match := front or _TIMES_BACK.match(passage.orders):
        times = _count(match["times"])
        if times is None:
            raise NoPlan(f'I do not repeat a task "{match["times"]}"; at most {MAX_TIMES} times')
        return replace(passage, orders=match["orders"], times=times)
    if _OFTEN.search(passage.orders):
        raise NoPlan("I cannot tell what to repeat; say each task in a sentence of its own")
    return passage


def state_of(text: str) -> State | None:
    """Parse a statement such as "the drawer is not open"; None: the text is none."""
    match = _STATE.match(text.strip(" ,"))
    return State(match["subject"], match["predicate"], negated=bool(match["no"])) if match else None


def _count(said: str) -> int | None:
    """Return the number of rounds; None: it is no number of 1 to MAX_TIMES."""
    word = said.removesuffix("x").removesuffix("times").strip()
    number = int(word) if word.isdecimal() else _NUMBERS.get(word, 0)
    return number if 1 <= number <= MAX_TIMES else None
