"""Orders without conditions, cut into clauses: each with its own verb and its own object.

"Open and close the drawer" shares an object, "open the window and the drawer" a verb, "open the drawer, then
close it" an object by name. Remarks beside the order ("it is cold, …", "I need the scissors, so …") are dropped;
what they name can be meant by a pronoun.
"""

from __future__ import annotations

import re

from openral_reasoner.offline.rules.relation import WAYS
from openral_reasoner.offline.rules.structure import NotUnderstood, State
from openral_reasoner.offline.rules.verbs import is_verb
from openral_reasoner.vocabulary import DETERMINERS, MODIFIERS, is_filler, is_manner, words

_AFTER_FIRST = re.compile(r"^(?:after|once|when|as soon as)\s+(?P<first>[^,]+),\s*(?P<second>.+)$")
_AFTER_LAST = re.compile(
    r"^(?P<second>.+?),?\s+(?:(?:right |shortly |directly |immediately )?after"
    r"|(?:once|when|as soon as)(?= you have\b))\s+(?P<first>.+)$"
)
_BEFORE_FIRST = re.compile(r"^before\s+(?P<second>[^,]+),\s*(?P<first>.+)$")
_BEFORE_LAST = re.compile(r"^(?P<first>.+?),?\s+before\s+(?P<second>.+)$")
_OPENING = re.compile(
    r"^(?:(?:please|kindly|(?:hey|hi|hello)(?: there)?|ok|okay|robot|so|now|also|just|well|and|to|by"
    r"|with|first|lastly|finally)\b[\s,]*"
    r"|(?:i|we)(?: would)? (?:want|like|need|wish) (?:you )?"
    r"(?:to (?=(?:open|close|shut|press|push|pull|put|insert|reach)\b))?(?=(?:the|that|this|my|open"
    r"|close|shut|press|push|pull"
    r"|put|insert|reach)\b)"
    r"|(?:go ahead|try|start|begin|finish|end|continue|proceed)(?: off| on)? (?:and|by|with|to) "
    r"|(?:start|begin|continue|go on|do) (?=\w+ing\b)|do (?=(?:open|close|shut|press|push|pull)\b)"
    r"|go on\b[\s,]*"
    r"|(?:because|since|given that|now that|as) (?=(?:it|there|i|we|she|he|they|the|my|our)\b)"
    r"|(?:let us|help me|make sure(?: that)?|be sure to|your (?:task|job) is to|it is time to)\s+)"
)
_LIST = re.compile(r"\s*,?\s+and\s+|\s*,\s*|\s*&\s*")
_PRONOUN = re.compile(
    r"\b(?:it|them|this one|that one|the same)\b|\b(?:this|that|these|those|both)(?=\s*(?:one |too "
    r"|again )?$)"
)
_PLURAL = ("them", "both", "these", "those")
_NOUN = rf"(?:the|that|this|my|our|its|an?) (?:(?:{'|'.join(sorted(MODIFIERS))}) (?!is\b|was\b|$))*(\w+)"
_BARE_NOUN = re.compile(r"^(?!it\b|that\b|this\b|there\b)(\w+) (?:is|are) ")
_SUBJECT = re.compile(
    r"(?:the|that|this|my) (?:\w+ )??(\w+) (?:is|was|has|looks|seems|feels|lets|makes)\b"
    r"(?! (?:\w+ )?(?:in|inside) (?:the|that|this|my)\b(?! way))"
)
"""What a remark is about: a pronoun behind it means this, not what is said of it."""
_REMARK = re.compile(
    r"^(?:(?:see|here is|this is|that is) (?=\w)|(?:i|we|he|she|they|you|someone|somebody|everyone"
    r"|everybody|people|there|it|let (?:me|us|the"
    r"|him|her))\b(?= \w)"
    r"|(?:(?:the|that|this|my|our|your|some|a|an) )?\w+(?: \w+)? (?:is|are|was|were|has been|have been"
    r"|opens|closes|shuts|belongs?|comes?(?! out)|looks?"
    r"|seems?|feels?|smells?|hurts?|had|got|has got|(?:can|may|might|will) be)\b(?! (?:to|supposed to)\b))"
)
"""A statement: it says what is so, not what to do."""


_DO_SO = re.compile(
    r"^(?:do|see to|take care of|handle|get on with|go and do)(?: (?:it|that|so|this|the same))?(?: for me)?$"
)
_FORGOTTEN = re.compile(r"\b(?:to|be) (?P<order>(?!be\b)\w+ (?:the|that|this|my) \w+(?: \w+)?)$")
"""What a remark says is to be done: "somebody forgot to close the drawer"."""
_PUTTING = frozenset(
    ["put", "place", "placed", "set", "lay", "laid", "drop", "dropped", "deposit", "deposited"]
)
_LEFT_OUT = {"out": "pull", "in": "push", "back": "push", "down": "push", "up": "lift"}


def strip_opening(clause: str) -> str:
    """Cut greetings and politeness off the front, as often as they come."""
    clause = clause.strip(" ,?!.")
    while (shorter := _OPENING.sub("", clause).strip(" ,")) != clause:
        clause = shorter
    return clause


def in_order(clause: str) -> list[str]:
    """Turn "after A, B", "B after A", "before B, A" and "A before B" into A, B."""
    for pattern in (_AFTER_FIRST, _BEFORE_FIRST, _AFTER_LAST, _BEFORE_LAST):
        match = pattern.match(clause)
        if match and all(
            _verb_in(match[part]) or _split_verb(match[part])[0] for part in ("first", "second")
        ):
            return [_without_you(match["first"]), _without_you(match["second"])]
    return [clause]


def _without_you(clause: str) -> str:
    """ "You have opened the drawer", behind an "after", is an order of events, no remark."""
    return re.sub(r"^(?:you|we) (?:have |had )?", "", strip_opening(clause))


class Clauses:
    """Reads one passage after the other; the objects that were named stay in mind for the next."""

    def __init__(self) -> None:
        self._group: list[str] = []
        self._group_verb = ""
        self._verb = ""
        self._topics: list[str] = []
        self.unsaid = ""
        """A thing that was named and not spoken of since."""
        self.idle = ""
        """Why nothing came of a passage."""

    @property
    def last(self) -> str:
        """The object named last, with its determiner; empty: none yet."""
        return self._group[-1] if self._group else ""

    def name(self, state: State) -> State:
        """A state with its pronoun replaced, where something was named."""
        if state.subject in ("it", "that", "this") and self.last:
            return State(self.last, state.predicate, state.negated)
        return state

    def begin(self, subject: str) -> None:
        """Go on with a passage whose condition speaks of that subject; empty or a pronoun: of nothing new."""
        if subject and subject not in ("it", "that", "this"):
            self._group, self._group_verb = [subject], ""

    def read(self, clauses: list[str]) -> tuple[str, ...] | NotUnderstood:
        """Cut clauses at commas and "and", and give every one its verb and its object."""
        return self._resolve(self._distribute(clauses))

    def _distribute(self, clauses: list[str]) -> list[str]:
        """Members of a list share the verb or the object of their neighbours."""
        tasks: list[str] = []
        for clause in clauses:
            pending: list[str] = []  # verbs that wait for the object they share: "open and close the drawer"
            members = [strip_opening(part) for part in _LIST.split(clause)]
            for place, member in enumerate(members):
                if tasks and _DO_SO.match(member):
                    wanted = _FORGOTTEN.search(tasks[-1].strip("()"))
                    tasks += [wanted["order"]] if wanted and tasks[-1].startswith("(") else []
                    continue
                if not _content(member):
                    continue
                if _REMARK.match(member):
                    tasks.append(f"({member})")
                    continue
                verb, rest = _split_verb(member)
                if verb and not _content(rest) and not _PRONOUN.search(rest):
                    pending.append(member)
                    continue
                if not verb and not _verb_in(member):
                    if not self._verb and (told := _with_verb(member)):
                        tasks.append(told)
                        continue
                    spoken_of = place == 0 and any(_PRONOUN.search(later) for later in members[1:])
                    if spoken_of or not self._verb:
                        tasks.append(f"[{member}]")
                        continue
                    member = f"{self._verb} {member}"
                self._verb = _shared(member) or self._verb
                tasks.extend(f"{waiting} {rest}" for waiting in pending)
                pending = []
                tasks.append(member)
            tasks.extend(pending)
        return tasks

    def _resolve(self, clauses: list[str]) -> tuple[str, ...] | NotUnderstood:
        """Replace pronouns by the object named last, plural ones by all objects of the last group."""
        tasks: list[str] = []
        for clause in clauses:
            if clause.startswith(("(", "[")):
                remark = clause[1:-1]
                self.idle = "it describes something; say what to do"
                nouns = re.findall(_NOUN, remark) or _BARE_NOUN.findall(remark)
                subject = _SUBJECT.match(remark)
                nouns = [*nouns, subject[1]] if subject else nouns
                nouns = nouns or (words(remark) if clause.startswith("[") else [])
                self._topics += [f"the {noun}" for noun in nouns[-1:]]
                self._group, self._group_verb = self._topics[:] or self._group, ""
                self.unsaid = self.unsaid or (remark if clause.startswith("[") else "")
                continue
            verb, rest = _split_verb(clause)
            if self.unsaid and verb and not _content(rest) and not _PRONOUN.search(rest):
                rest, self.unsaid = f"{rest} {self._topics[-1]}", ""  # "the drawer: open"
                clause = f"{verb} {rest}"
            if verb in _PUTTING and self._group and words(rest)[:1] and words(rest)[0] in WAYS:
                clause = f"{verb} {self._group[-1]} {rest}"  # "pick up the puck and place at the goal"
            self._topics = []
            pronoun = _PRONOUN.search(rest)
            if pronoun is None and self.unsaid:
                return NotUnderstood(f'I do not know what to do with "{self.unsaid}"')
            self.unsaid = ""
            if pronoun is None:
                phrase = _noun_phrase(rest)
                if phrase:
                    self._group = [*self._group, phrase] if verb == self._group_verb else [phrase]
                    self._group_verb = verb
                tasks.append(clause)
                continue
            if not self._group:
                return NotUnderstood(f"'{pronoun[0]}' stands for nothing that was named before")
            chosen = self._group if pronoun[0] in _PLURAL else self._group[-1:]
            tasks += [f"{verb} {_PRONOUN.sub(phrase, rest, count=1)}".strip() for phrase in chosen]
            self._group, self._group_verb = chosen, ""
        return tuple(tasks)


def _shared(clause: str) -> str:
    """The verb that members behind it may share; of "get the window open" that is "open"."""
    verb, rest = _split_verb(clause)
    last = words(rest)[-1:]
    return last[0] if verb and last and last[0] in ("open", "closed", "shut") else verb


def _with_verb(clause: str) -> str:
    """ "Drawer out" and "peg into the hole" with the verb that they leave out; empty: they leave out none."""
    said = words(clause)
    thing = clause if said[:1] and said[0] in DETERMINERS else f"the {clause}"
    if len(said) > 1 and said[-1] in _LEFT_OUT:
        return f"{_LEFT_OUT[said[-1]]} {thing}"
    placed = any(WAYS.get(word, "away") != "away" and place for place, word in enumerate(said[:-1]))
    return f"put {thing}" if placed else ""


def _verb_in(clause: str) -> bool:
    return any(is_verb(word) for word in words(clause))


def _content(text: str) -> list[str]:
    """Words of a text that carry meaning, pronouns not among them."""
    said = words(text)
    return [
        word
        for before, word in zip(["", *said], said, strict=False)
        if not is_filler(word, before) and word not in ("it", "them") and not is_manner(word)
    ]


def _split_verb(clause: str) -> tuple[str, str]:
    """Split a clause into leading verb and rest; an unknown word before a determiner is a verb too."""
    tokens = clause.split()
    bare = [word.strip(",'\"") for word in tokens]
    for index, word in enumerate(bare):
        if is_verb(word) or (
            index == 0
            and len(bare) > 1
            and (bare[1] in DETERMINERS or bare[1] in ("it", "them"))
            and word not in DETERMINERS
        ):
            return word, " ".join(tokens[index + 1 :])
        if word in DETERMINERS:
            break
    return "", clause


def _noun_phrase(rest: str) -> str:
    """The object of a clause with its determiner, without particles around it."""
    said = words(rest)
    kept = [
        word
        for before, word in zip(["", *said], said, strict=False)
        if (word in DETERMINERS or not is_filler(word, before)) and not is_verb(word) and not is_manner(word)
    ]
    while kept and kept[-1] in ("in", "out", "down", "on"):
        kept.pop()
    demonstrative = False
    while kept and kept[0] in ("in", "out", "down", "on", *(DETERMINERS - {"the", "a", "an", "my", "your"})):
        demonstrative = kept.pop(0) in DETERMINERS or demonstrative
    return " ".join(["the", *kept] if demonstrative and kept else kept)
