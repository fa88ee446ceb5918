"""Decides whether words could mean "stop", without a planner, so that a stop does not depend on how words are parsed.

A stop that was not meant costs a repeated order; one that is missed may cost an arm. So typing errors, capitals,
stretched letters and the common languages are recognised (`stop_phrases`), and a sentence that holds a stop beside
other words counts as one while anything moves.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import groupby

from openral_reasoner.mission.stopping import stop_phrases

MAX_READ = 2_000
"""Characters read at the beginning, and at the end, of a text that is too long for an order."""
_SHORTEST_SLIP = 3
_SLIPS_OF = (
    "stop",
    "halt",
    "wait",
    "pause",
    "freeze",
    "cancel",
    "abort",
    "quit",
    "cease",
    "estop",
    "emergency",
)
_LONG = 6
"""Letters from which on a word of the tables is also recognised with a typing error."""
_BREAK, _UNSPACED_STOP, _UNSPACED_GO_ON = ",", "\ue000", "\ue001"
_BREAKS = re.compile(r"[.,;:!?…\n\r。、，！？；：،؛۔।—–()\[\]\"]+| - ")
_WORD = re.compile(r"[^\W_]+|[\ue000\ue001]|,")
_SPELLED = re.compile(r"(?<![^\W_])(?:[^\W_][\s.\-_*,]+){2,}[^\W_](?![^\W_])")
"""Three or more single letters in a row: "s t o p". No character is both letter and gap: else the time for a line of
underscores would grow exponentially with its length."""
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ß": "ss", "ı": "i", "æ": "ae", "œ": "oe", "’": "'", "`": "'", "´": "'"}
)
_DIGITS = str.maketrans({"0": "o", "3": "e", "5": "s", "4": "a", "@": "a", "$": "s"})
_RUN_TOGETHER = re.compile(
    r"(?:please|no|robot|hey|just)*(?:(?:stop|halt|wait|freze)(?:it|now|please|that|moving|right|there|everything|al)*)+"
)
_PRESSED = frozenset({"buton", "switch", "key", "pad"})
"""Words after "the stop" with which it still counts as a stop: "hit the stop button"; without doubled letters."""


class Heard(IntEnum):
    """What words could mean, ordered by how certainly they mean "stop"."""

    ORDER = 0
    """They do not mean "stop"."""
    GO_ON = 1
    """They say not to stop, and order nothing."""
    OBJECTION = 2
    """They say "no", "don't …" or "wrong": an answer, a prohibition, or a stop while something moves."""
    STOP_AND_MORE = 3
    """They hold a stop and other words: "hold on, push the button", "wait until it is open, then close it"."""
    STOP = 4
    """They are a stop and nothing else."""


def heard(text: str) -> Heard:
    """Return what a text of any length and characters could mean; of its readings the most certain stop counts."""
    parts = (text,) if len(text) <= 2 * MAX_READ else (text[:MAX_READ], text[-MAX_READ:])
    readings = set()
    for part in parts:
        readings |= {_without_controls(part, ""), _without_controls(part, " ")}
    return max(map(_read, readings))


def is_stop(text: str) -> bool:
    """Return whether a text only says to stop: "Stop!", "hold on", "s t o p", "Halt, bitte"."""
    return heard(text) is Heard.STOP


def _without_controls(text: str, instead: str) -> str:
    """Return a text without invisible characters: controls, joiners, marks of direction."""
    seen = (
        c if c in "\n\r\t " or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn") else instead
        for c in text
    )
    return "".join(seen)


def _read(text: str) -> Heard:
    words = _tokens(text)
    stops, rest = _taken_out(words)
    content = [
        word for word in rest if not (word in _company() or word in _table("objections") or word == _BREAK)
    ]
    if _UNSPACED_GO_ON in words or any(stop == "go on" for stop in stops):
        if "stop" in stops:
            return Heard.STOP_AND_MORE
        return Heard.OBJECTION if _begins_against(rest) else Heard.GO_ON
    if "stop" in stops:
        return Heard.STOP if not content else Heard.STOP_AND_MORE
    clauses = [
        list(clause) for is_break, clause in groupby(words, lambda word: word == _BREAK) if not is_break
    ]
    alone = [_made_of(clause, _table("alone")) for clause in clauses]
    against = [_made_of(clause, _table("objections")) for clause in clauses]
    if any(alone):
        silent = all(
            one or other or _is_company(c) for one, other, c in zip(alone, against, clauses, strict=True)
        )
        return Heard.STOP if silent else Heard.STOP_AND_MORE
    return Heard.OBJECTION if any(against) or _begins_against(words) else Heard.ORDER


def _tokens(text: str) -> list[str]:
    """Return the words without accents, case and stretched letters, commas for breaks, and single letters joined."""
    text = unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS)
    text = _UNSPACED.sub(_unspaced, text)
    text = "".join(
        c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) not in ("Mn", "Mc")
    )
    text = unicodedata.normalize("NFC", text)
    text = re.sub(r"\b(do|did|does|is|was|wo|ca|could|should|would|must)n'?t\b", r"\1 not", text).replace(
        "'", " "
    )
    text = _SPELLED.sub(lambda run: re.sub(r"[\W_]+", "", run[0]), text)
    words = _WORD.findall(_BREAKS.sub(" , ", text))
    return [word if word == _BREAK else _plain(word) for word in words]


def _plain(word: str) -> str:
    """Return a word without stretched letters, with letters in place of similar digits, and "stop" for its slips."""
    if any(c.isalpha() for c in word):
        word = word.translate(_DIGITS)
    if word not in stop_phrases.ORDINARY and _slip_of(word):
        return "stop"
    word = "".join(letter for letter, _ in groupby(word))
    return "stop" if _RUN_TOGETHER.fullmatch(word) else word


def _unspaced(match: re.Match[str]) -> str:
    """Replace the phrases of scripts without spaces that say to stop, or not to, by marks."""
    text = match[0]
    for phrases, mark in (
        (stop_phrases.UNSPACED_GO_ON, _UNSPACED_GO_ON),
        (stop_phrases.UNSPACED, _UNSPACED_STOP),
        (stop_phrases.UNSPACED_COMPANY, ""),
    ):
        for phrase in sorted(phrases, key=len, reverse=True):
            text = text.replace(unicodedata.normalize("NFKC", phrase), f" {mark} ")
    return text


@lru_cache(maxsize=4096)
def _slip_of(word: str) -> bool:
    """Return whether a word is a stop word with one typing error: letters swapped, one added, missing or wrong."""
    if len(word) < _SHORTEST_SLIP or not word.isascii():
        return False
    return any(abs(len(word) - len(known)) <= 1 and _one_slip(word, known) for known in _known_for_slips())


@lru_cache(maxsize=1)
def _known_for_slips() -> tuple[str, ...]:
    singles = {phrase for phrase in (*stop_phrases.ENGLISH, *stop_phrases.OTHERS) if " " not in phrase}
    return (*_SLIPS_OF, *(word for word in sorted(singles) if len(word) >= _LONG and word.isascii()))


def _one_slip(word: str, known: str) -> bool:
    if word == known:
        return True
    first = next(
        (i for i, (a, b) in enumerate(zip(word, known, strict=False)) if a != b), min(len(word), len(known))
    )
    left, right = word[first:], known[first:]
    swapped = left[1::-1] + left[2:] == right and len(left) > 1
    return swapped or left[1:] == right[1:] or left[1:] == right or left == right[1:]


def _taken_out(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the meaning of each stop phrase ("stop", "go on", or "" within an order), and the other words."""
    stops: list[str] = []
    rest: list[str] = []
    at = 0
    while at < len(words):
        going = _longest(words, at, _table("go on"))
        length = going or _longest(words, at, _table("stop")) or int(words[at] == _UNSPACED_STOP)
        if not length:
            rest.append(words[at])
            at += 1
            continue
        stops.append("go on" if going else _meaning(words, at, at + length))
        if not stops[-1]:
            rest += words[at : at + length]
        elif stops[-1] == "go on" and not going:
            del rest[len(rest) - _forbidden(words[:at]) :]
        at += length
    return stops, rest


def _meaning(words: Sequence[str], begin: int, end: int) -> str:
    """Return the meaning of the stop phrase at `begin` to `end`: "stop", "go on", or "" within an order."""
    before = words[:begin]
    if _forbidden(before):
        return "go on"
    clause = before[
        len(before) - next((i for i, w in enumerate(reversed(before)) if w == _BREAK), len(before)) :
    ]
    ordered = any(word not in _company() and word != _BREAK for word in before)
    after = words[end : end + 1]
    thing = after and after[0] != _BREAK and after[0] not in _company() | _PRESSED
    if before[-1:] and before[-1] in ("the", "a", "an") and thing:
        return ""  # "close the stop valve"
    if ordered and (before[-1] in ("then", "and") or {"until", "til"} & set(clause)):
        return ""  # "open the drawer, then stop"
    return "stop"


def _forbidden(before: Sequence[str]) -> int:
    """Return how many words before a stop phrase forbid it, as "do not" does; 0: none."""
    subject = before[-3:-2] and before[-3] in ("i", "we", "they", "it", "you")
    return 2 if before[-2:] == ["do", "not"] and not subject else int(before[-1:] == ["never"])


def _begins_against(words: Sequence[str]) -> bool:
    """Return whether the first words after any form of address are an objection."""
    first = next((i for i, w in enumerate(words) if w not in _ADDRESS and w != _BREAK), 0)
    return bool(_longest(words, first, _table("objections")))


_ADDRESS = frozenset({"please", "robot", "hey", "just", "ok", "oh", "now", "bite", "por", "favor"})


def _made_of(clause: Sequence[str], table: dict[str, list[tuple[str, ...]]]) -> bool:
    """Return whether a clause holds phrases of a table, and beside them words of `COMPANY` alone."""
    at, found = 0, False
    while at < len(clause):
        length = _longest(clause, at, table)
        found = found or bool(length)
        if not length and clause[at] not in _company():
            return False
        at += length or 1
    return found


def _is_company(clause: Iterable[str]) -> bool:
    return all(word in _company() for word in clause)


def _longest(words: Sequence[str], at: int, table: dict[str, list[tuple[str, ...]]]) -> int:
    """Return the number of words of the longest phrase of a table that begins at `at`; 0: none does."""
    fitting = (
        (p for p in table.get(words[at], ()) if tuple(words[at : at + len(p)]) == p)
        if at < len(words)
        else ()
    )
    return max(map(len, fitting), default=0)


@lru_cache(maxsize=1)
def _company() -> frozenset[str]:
    return frozenset("".join(letter for letter, _ in groupby(word)) for word in stop_phrases.COMPANY)


@lru_cache(maxsize=8)
def _table(name: str) -> dict[str, list[tuple[str, ...]]]:
    """Return the tokenised phrases of a table by their first word."""
    phrases = {
        "stop": (*stop_phrases.ENGLISH, *stop_phrases.OTHERS),
        "alone": stop_phrases.ALONE,
        "objections": stop_phrases.OBJECTIONS,
        "go on": stop_phrases.GO_ON,
    }[name]
    table: dict[str, list[tuple[str, ...]]] = {}
    for phrase in phrases:
        words = tuple(_tokens(phrase))
        table.setdefault(words[0], []).append(words)
    return table
