"""The frame around an order: "I would be grateful if you could …", "… would be nice", "be so kind and …".

A request is an order inside words that only say that it is one. They come from closed classes: pronouns, modal verbs,
verbs of wishing, words of praise. What stands at either end of a part of a sentence and consists of them alone is cut
off, if one of them marks a request. A "not" belongs to none of the classes, so it is still there afterwards, and so
are "if the drawer …" and "I opened …".
"""

from __future__ import annotations

import re
from itertools import pairwise

from openral_reasoner.offline.rules.verbs import is_verb


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MODALS = _set("can could would will should might may must ought")
_WISHES = _set(
    "want need wish require request demand appreciate ask asking order ordering tell telling beg begging urge suggest"
    " propose recommend advise wondering hoping please kindly favour favor kindness time sure chance"
    " dear darling angel sport star"
)
"""Each of them marks a request."""
_PRAISE = _set(
    "nice great good lovely wonderful kind grateful glad happy pleased thankful obliged delighted delightful helpful"
    " best better super cool fantastic perfect ideal brilliant sweet amazing awesome excellent appreciated"
    " welcome possible like love prefer hope expect rather okay ok alright fine mind bother trouble help able"
)
"""They mark a request beside a modal verb: "it would be nice", and not "it is nice"."""
_LINKS = _set(
    "i we you us me it there if whether to for of as be is am are was so that what all really just very much quite also"
    " now simply quickly truly actually possibly think believe guess free ahead go highly too"
    " hey hi hello robot somebody someone anybody anyone"
)
_FRAME = _MODALS | _WISHES | _PRAISE | _LINKS
_NOUNS = _set("favour favor kindness chance time moment help dear darling angel sport star")
_ARTICLES = _set("a an the any some this")
_BEGIN = _set("the that this my our")
_ASKING = _set("ask asking tell telling wondering")
_YOU = _set("you somebody someone anybody anyone")
_PAIRS = frozenset({("do", "me"), ("do", "us"), ("let", "us"), ("do", "is"), ("get", "you"), ("have", "you")})
_GIVING = _set("get give make take bring go do have see start begin")
_CUT = re.compile(r"([,.;:!?\n]+|\b(?:and|then|but)\b|\bso\b(?! (?:kind|good|nice|much|as|very)\b))")
_WORD = re.compile(r"[\w']+")
_PRAISED = "|".join(sorted(_PRAISE | _WISHES))
_BACK = re.compile(
    r"[ ,]*\b(?:please|kindly|thanks|thank you|cheers|for (?:me|us)"
    r"|(?:would|will|could|can|might) you(?: please| kindly)?"
    rf"|(?:would|will|could|might) (?:really |also )?(?:be |help |do )?(?:(?:a|an|me|us|very|so|most|much|really|big"
    rf"|lot|{_PRAISED})(?: |$))+"
    r"|if you (?:please|would be so kind)|is (?:what|all) (?:i|we) (?:would )?(?:want|need|like|ask)(?: for)?)$"
)
_WISHED = re.compile(
    r"^(?P<thing>(?:the|that|this|my|our) \w+(?: \w+)??) (?:were|was|is|would be|could be|gets|got) (?!not\b)"
)
"""What is wished behind "if": "the door were open"."""


def unframed(text: str) -> str:
    """Cut the frames off every part of a text.

    Args:
        text: lower case, without contractions.
    """
    parts = _CUT.split(text)
    parts[::2] = [_without_front(_without_back(part)) for part in parts[::2]]
    return "".join(parts)


def _without_back(part: str) -> str:
    kept = part.rstrip()
    if _BACK.fullmatch(kept):
        return ""
    while (shorter := _BACK.sub("", kept)) != kept and _WORD.search(shorter):
        kept = shorter
    return kept + part[len(part.rstrip()) :]


def _without_front(part: str) -> str:
    found = list(_WORD.finditer(part))
    said = [match[0] for match in found]
    length = _front(said)
    if not _is_request(said[:length]):
        return part
    if length == len(said):
        return part if _is_about(said) else ""
    while length and not _begins_order(said[length:], asked="you" in said[:length]):
        length -= 1
    if not _is_request(said[:length]):
        return part
    order = _WISHED.sub(r"get \g<thing> ", part[found[length].start() :])
    return part[: len(part) - len(part.lstrip())] + order


def _front(said: list[str]) -> int:
    """How many words at the front belong to the classes; an article only before a noun or praise of theirs."""
    for index, word in enumerate(said):
        behind = said[index + 1] if index + 1 < len(said) else ""
        if word in _ARTICLES and behind in _NOUNS | _PRAISE:
            continue
        if (word, behind) in _PAIRS:
            continue
        if word not in _FRAME or (word == "that" and behind not in _FRAME | _BEGIN):
            return index
    return len(said)


def _is_request(front: list[str]) -> bool:
    marks = set(front)
    if any(one in ("me", "us", "i") and other == "to" for one, other in pairwise(front)):
        return False  # "would you like me to open it" asks what the robot would like
    if marks & (_YOU - {"you"}) and (front[0] not in _MODALS or marks & _ASKING):
        return False  # "ask someone to open it"
    if front[-1:] in (["if"], ["whether"]) and marks & _ASKING:
        return False  # "tell me whether the drawer is open"
    if front[:1] == ["if"] and not marks & {"would", "could", "might", "may"}:
        return False  # "if you need to open the drawer, …"
    modal = bool(marks & _MODALS)
    return bool(marks & _WISHES) or ((modal or front[:1] == ["be"]) and bool(marks & (_PRAISE | _YOU)))


def _is_about(said: list[str]) -> bool:
    """ "I want it" and "you must" say something about what was named before."""
    return said[-1] in ("it", "that", "this", "to") or not set(said) & (
        _NOUNS | _PRAISE | {"please", "kindly"}
    )


def _begins_order(rest: list[str], *, asked: bool) -> bool:
    """Whether an order may begin here: a verb, a word before a determiner, or a thing.

    "I want to get out" says what somebody wants to do; only what is asked of "you" may go on like this.
    """
    first, second = rest[0], rest[1] if len(rest) > 1 else ""
    if first in _BEGIN:
        return bool(second)
    if first in _GIVING:
        return second in _BEGIN or (asked and first not in ("have", "do", "see"))
    if second in _BEGIN | {"it", "them"} and first not in _FRAME:
        return True
    return is_verb(first)
