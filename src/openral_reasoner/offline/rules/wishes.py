"""Orders that are said as wishes or as requests for leave: "I'd like the cube lifted", "could I have the drawer open".

They are rewritten before the frames around an order are cut: a wish is such a frame, and without it nothing would say
that something is wanted.
"""

from __future__ import annotations

import re

from openral_reasoner.offline.rules.turns import BODY, STATE, THING, Rule, deed, table

DONE = (
    r"(?P<done>(?!been\b|need\b|opened\b|closed\b)\w+ed(?: up| down| out| in| back in| back)?|put|set|open"
    r"|shut|slid"
    r"|taken|brought|drawn|swung)"
)
"""What is to be done to a thing, behind it: "lifted", "put"; what may be a mere state of it is not among them."""
WISH = (
    r"(?:(?:i|we) )?(?:(?:would|really|just|do|should) )*(?:want|need|require|like|request|demand"
    r"|prefer|fancy)"
)
"""Whose wish it is stands before it, or nothing does."""


def done(match: re.Match[str]) -> str:
    """ "the cube lifted off the table" behind a wish -> "lifted the cube off the table"."""
    verb, _, way = match["done"].partition(" ")
    return f"{verb} {match['thing']} {way}".rstrip() if deed(verb) else match[0]


_REQUESTS: tuple[Rule, ...] = (
    (
        r"\b(?P<deed>stack(?:ed|ing)?)(?: up)? (?:one )?(?:on|onto) (?:the other|each other"
        r"|one another)\b",
        r"\g<deed>",
    ),
    (
        r"(?:^|(?<=[,.;] ))(?:someone|somebody)(?: please)? (?=(?:open|close|shut|press|push|pull|lift|put"
        r"|pick|slide) (?:the|that) )",
        "",
    ),
    (
        r",? but (?=(?:i|we) (?:would |really )*(?:want|need|like|prefer)\b|it (?:should|must|needs to"
        r"|has to|ought to) be\b|please\b|(?:could|can|would) you\b)",
        ", ",
    ),
    (
        r"^(?:it|there|i|we)\b[^,.;]* (?:so|such an?) [^,.;]*? that (?=(?:i|we) (?:would|want|need)\b"
        r"|please\b|(?:could|can|would) (?:you|we)\b)",
        "",
    ),
    (
        rf"\b(?:lift|raise|pick up) {THING} (?:up )?(?:so(?: that)?|until|till) it (?:is|comes|leaves"
        r"|clears) (?:off |clear of |up from |up off )?(?:the (?:table|desk|surface)|in the air)",
        r"lift \g<thing>",
    ),
    (
        r"\b(?P<verb>stack|lift|close|shut|pull|raise)(?P<form>ing|ed)? up (?=the |that |my )",
        r"\g<verb>\g<form> ",
    ),
    (rf"^{THING} {DONE}(?=,? (?:please|now)\b)", done),
    (r"\b(?:would you |could you |please )?do (?:the honours|me a (?:solid|favour|favor|kindness)) and ", ""),
    (
        r"(?:^|(?<=[,.;] ))(?:someone|somebody) (?:needs to|should|ought to|has to|had better|might want to"
        r"|could) (?=\w+ (?:the|that|it)\b)",
        "",
    ),
    (r"\b(?:let us|let me|i want to|we want to|i need to) see you (?=\w+ )", ""),
    (
        r"\bgo (?:and )?(?:find |locate "
        r"|look for )(?P<found>the \w+(?: ball)?) and (?P<verb>\w+) it\b",
        r"\g<verb> \g<found>",
    ),
    (
        rf"\b(?:get|make|have|let) {THING} (?:to )?(?P<verb>swing|slide|pop|come) (?=(?:{STATE}|out"
        r"|in)\b)",
        r"\g<verb> \g<thing> ",
    ),
    (
        rf"\b(?:get|make|have|let) (?!(?:the|your) (?:{BODY})\b){THING} (?:to )?(?:sit|rest|stand|lie|land"
        r"|end up|go)(?: right)? (?P<prep>in|on|onto|into|at|to) (?=the |its )",
        r"put \g<thing> \g<prep> ",
    ),
    (
        rf"(?:^|(?<=[,.;] ))(?P<there>the \w+(?: \w+)?) is where (?P<mine>your|the) (?:{BODY}) (?:goes"
        r"|belongs|(?:should|needs to|has to|ought to) (?:be|go))\b",
        r"reach \g<there>",
    ),
    (
        r"(?:^|(?<=[,.;] ))(?P<there>the \w+(?: \w+)?) is where (?P<what>(?:the"
        r"|that) \w+(?: \w+)??) (?:goes|belongs|(?:should|needs to|has to|ought to) (?:be|go))\b",
        r"put \g<what> to \g<there>",
    ),
    (r"^(?:do you |would you )?fancy (?=\w+ing\b)", "would you mind "),
    (
        r"\b(?:i|we) would (?:feel|be|sleep|work|think)(?: (?:much|a lot|far|so|quite|rather"
        r"|very))? (?:better|happier|happy|glad|pleased|grateful|safer|warmer|cooler|easier|best|comfier"
        rf"|more \w+) (?:with|if|having) (?={THING} (?:(?:was|were|being|is) )?(?:{STATE}|{DONE})\b(?!ed))",
        "get ",
    ),
    (
        r"^if you (?:would|could|can|might)(?: just| please| kindly)* (?P<order>(?!like\b|rather\b|not\b"
        r"|be\b|mind\b).+?)[,;]? "
        r"(?:(?:that|it|this) would (?:help|suit|do|make my day|be (?:so |very |really |just |much "
        r"|most )*(?:a |of )?(?:great|nice|lovely|good|wonderful|grand"
        r"|kind|brilliant|fantastic|helpful|perfect|ideal|super|big|real|appreciated|welcome|marvellous))"
        r"|(?:i|we) would (?:really |be (?:so |very |most )?)?(?:appreciate|love|grateful|glad|happy"
        r"|obliged|thankful|pleased|delighted))\b.*$",
        r"\g<order>",
    ),
    (
        r"\b(?:would you mind if i asked you to|(?:may|might|can|could|shall) i (?:just )?(?:ask|trouble"
        r"|request|bother)(?: (?:that )?you)?"
        r"(?: to)?|(?:let|may|can) (?:me|i) see you|i would (?:like|love) to see you|see (?:if"
        r"|whether) you (?:can|could)|try (?:and|to)"
        r"|i (?:was|am) wondering (?:if|whether) you (?:could|can|would|might)|do you think you (?:could"
        r"|can|might)"
        r"|(?:would|could|can|will) you (?:please )?(?:see|check) (?:if|whether) you (?:can"
        r"|could)) (?!not\b|be\b)(?=\w)",
        "",
    ),
    (r"\b(?:make|arrange|fix|sort) it(?: so| out)?(?: so)?(?: that)? (?=the |that |my )", "make sure "),
    (
        rf"\b(?:can|could|may|might|shall) (?:i|we) (?:please |just )?(?:have|get) (?={THING} (?:{DONE}"
        rf"|{STATE})\b)",
        "get ",
    ),
    (
        r"\b(?:please )?(?:i|we) (?:would |really |just )*(?:want|need|like)(?: to (?:have|see"
        rf"|get))? {THING} to"
        r" (?:go|be|end up|get|come|sit|land|be put|be placed)(?: back| right| over)? (?P<prep>in|on|into"
        r"|onto|inside|at) (?=the |its )",
        r"put \g<thing> \g<prep> ",
    ),
    (
        rf"\b{WISH} (?=(?!(?:the|my) (?:{BODY})\b){THING} (?:up|out|in|down|back)(?: in| off the \w+| up"
        r"| out)?\b(?=\s*(?:$|[,.;!?])| (?:please|now|again)))",
        "get ",
    ),
)
_WISHES: tuple[Rule, ...] = (
    *_REQUESTS,
    (
        r"(?:^|(?<=[,.;:] )|\b(?:and|so|think|that) )(?:(?:please )?(?:can"
        rf"|could) )?{THING} (?:please )?(?:really |now )*(?:(?:should|must|has to|ought to|needs to"
        r"|is to|wants to|had better|will have to|would like to) (?:now |really )?)?(?:be"
        rf"|get) {DONE}(?!\w)",
        lambda match: done(match) if match[0].strip() != match["thing"] else match[0],
    ),
    (
        r"(?P<thing>\b(?:the|that) \w+(?: \w+)??) (?:should have|needs|wants|has to have|ought to have"
        r"|must have)"
        r" (?P<other>the \w+(?: \w+)?) (?:sitting |placed |stacked |put )?(?P<prep>on|onto|in"
        r"|inside) (?:it|top|there)(?: of it)?",
        r"put \g<other> \g<prep>to \g<thing>",
    ),
    (
        r"(?:\b(?:to|at|on|over|by) )\bwhere (?P<there>the \w+(?: \w+)?) (?:is|sits|lies|stands)\b",
        r"to \g<there>",
    ),
    (r"(?<=it) where (?P<there>the \w+(?: \w+)?) (?:is|sits|lies|stands)\b", r" to \g<there>"),
    (
        rf"\b{WISH} (?:to (?:have|see|get) )?(?={THING} {DONE}(?: (?:and|please|in|on|at|to|into|onto|off"
        r"|over|from|inside)\b|[,.;!?]|$))",
        "get ",
    ),
    (
        rf"\b{WISH} (?:to (?:have|see) )?it (?P<state>{STATE}|pressed|pushed|lifted|up|in|out|down)\b",
        r"get it \g<state>",
    ),
    (
        r"\b(?:want|need|like|have|prefer) you (?:to be |to get |positioned |over |right )*(?:at|over"
        r"|above|on)"
        r" (?=the \w+)",
        "want you to reach ",
    ),
    (
        r"\b(?:(?:i|we) )?(?:(?:could|can) (?:really )?do with|would not mind|should like"
        r"|would (?:appreciate|welcome))"
        rf" (?:having |seeing )?{THING} (?:being )?(?!needs\b)(?=\w+ed\b|put\b|{STATE}\b)",
        r"get \g<thing> ",
    ),
)

wished = table(_WISHES)
"""Rewrites wishes, in a text without contractions."""
