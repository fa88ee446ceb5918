"""What an operator says about a deployment: orders in many frames, and what comes near an order and is none."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from openral_training.planner.deployments import COLOURS, SIDES, SIZES, Action, Lexicon, Task, Thing, phrase, without_place
from openral_training.planner.inflection import participle

ACTS = ("order", "statement", "question", "forbidden", "unreal", "fragment")
"""Speech acts: an order; harmless talk beside an order; a question; a prohibition, a keeping or a taking back; what is
imagined, reported, another's or for later; a piece without a verb or without an object."""
ORDER, STATEMENT, QUESTION, FORBIDDEN, UNREAL, FRAGMENT = range(6)
IGNORED = -1.0


@dataclass(frozen=True)
class Utterance:
    """A sentence, its speech act, and for each task of the deployment whether it orders exactly that task."""

    text: str
    act: int
    labels: tuple[float, ...]
    """0..1 a task; `IGNORED`: unknown."""


POLITE = """i want you to have {p}|{b}|{b}|please {b}|{b} please|could you {b}|can you {b}|would you {b}|could you please {b}|can you please {b}
i want you to {b}|i need you to {b}|i would like you to {b}|i'd like you to {b}|you can {b} now|you should {b}|let's {b}|let us {b}
go ahead and {b}|be so kind as to {b}|be so good as to {b}|do me a favour and {b}|your task is to {b}|your job is to {b}|next you have to {b}
it would be great if you could {b}|it would be nice if you would {b}|i was hoping you could {b}|is it possible for you to {b}
would it be possible to {b}|any chance you could {b}|is there any chance you could {b}|why don't you {b}|don't forget to {b}
remember to {b}|make sure to {b}|feel free to {b}|it is time to {b}|time to {b}|you have to {b}|you need to {b}|you may {b}
would you be able to {b}|would you be so kind as to {b}|could i get you to {b}|may i ask you to {b}|i must ask you to {b}
i'm asking you to {b}|kindly {b}|do {b}|now {b}|just {b}|quickly {b}|gently {b}|carefully {b}|slowly {b}|{b} now|{b} for me
{b} quickly|{b} carefully|{b} right away|{b} again|{b}, will you|{b}, would you|{b} if you please|{b}, thanks|{b} for us
can we {b}|could we {b}|we need to {b}|we have to {b}|we should {b}|somebody has to {b}, so do it please|i want to {b}|i need to {b}
next task: {b}|command: {b}|order: {b}|your next job: {b}|see if you can {b}|try to {b}|please try and {b}|help me to {b}|help me {b}
be a dear and {b}|be an angel and {b}|if you could {b} that would be great|if you would {b}|i would be glad if you would {b}
might i trouble you to {b}|would you kindly {b}|you'd better {b}|you ought to {b}|you must {b}|you are to {b}|start by trying to {b}
use your gripper to {b}|use your hand to {b}|use the handle to {b}|reach out and {b}|move over there and {b}|go over and {b}|go and {b}
i need you, right now, to {b}|can u {b}|pls {b}|plz {b}|{b} pls|{b} asap|wanna {b}|gotta {b}|all i want is for you to {b}|get ready and {b}
the plan is to {b}|what i want is for you to {b}|how about you {b}|what about you {b}|i ask that you {b}|i'd appreciate it if you could {b}
first of all {b}|do please {b}|okay, {b}|alright {b}|go on, {b}|come on, {b}|hey, {b}|robot, {b}|yes, {b}|then {b}|so {b}|right, {b}"""
GERUND = """would you mind {g}|how about {g}|would you mind {g} please|i would appreciate you {g}|{g} would be great|{g} would help a lot
could i bother you with {g}|try {g}|get on with {g}|start {g}|begin by {g}|please start {g}|do you mind {g}|what about {g}|{g} please
i'm thinking of you {g}|you could help by {g}|{g} is your next task|we need help with {g}|{g} is what i need|fancy {g}
your job now is {g}|let's get going with {g}|help out by {g}|you can help me by {g}|mind {g} for me|would you consider {g}"""
WISHED = """i need {o} {s}|i want {o} {s}|get {o} {s}|have {o} {s}|{o} needs to be {s}|{o} should be {s}|{o} has to be {s}|{o} must be {s}
i would like {o} to be {s}|i'd like {o} {s}|see to it that {o} is {s}|please see that {o} gets {s}|let {o} be {s}|make sure {o} is {s}
make sure that {o} is {s}|{o} is to be {s}|can we have {o} {s}|could we have {o} {s}|i'd like to see {o} {s}|i want to see {o} {s}
would it be possible to have {o} {s}|{o} ought to be {s}|we need {o} {s}|{o} has got to be {s}|let's have {o} {s}|let's get {o} {s}
i'd prefer {o} {s}|i'd love {o} {s}|can you get {o} {s}|can you have {o} {s}|ensure that {o} is {s}|i require {o} {s}
what i need is {o} {s}|{o} wants to be {s}|i wish {o} was {s}|it would be good to have {o} {s}|it'd be lovely to have {o} {s}
i need to have {o} {s}|i want to have {o} {s}|would you get {o} {s}|please have {o} {s}|please get {o} {s}|{o} had better be {s}"""
STATED = """{o} {s}|{o} {s} please|{o} {s}, please|{o}: {s}|{o} {s} now|{o} {s}, thanks|make {o} {s}|make it so that {o} is {s}|{o} to be {s}
i expect {o} to be {s}|{o} {s} asap|change {o} so that it is {s}|bring {o} into such a state that it is {s}|keep going until {o} is {s}
i want to find {o} {s} when i am back"""
TOPIC = """{o}, {i}|{o}, please {i}|{o}, could you {i}|{o}: {i}|you see {o}? {i}|see {o}? please {i}|about {o}, {i}|take {o}: {i}
as for {o}, {i}|that is {o}, {i}|here is {o}, {i}|there is {o}, {i}|look at {o}. now {i}|i mean {o}, {i}|{o} is there, please {i}
{o} over there, {i}|go to {o} and {i}|reach for {o} and {i}|take hold of {o} and {i}|find {o} and {i}|walk up to {o} and {i}|approach {o} and {i}"""
PLACED = """{o} goes {s}|{o} belongs {s}|{o} has to go {s}|{o} should go {s}|can {o} go {s}|could {o} go {s} please|{o} has to get {s}|{d} needs {o}|{d} needs its {n}|{d} is waiting for {o}
{d} for {o} please|{d} wants {o}|{d} is where {o} goes|{d} is where {o} belongs|{d} is empty, put {o} there|{o} to {d} please|{d} should get {o}|{o} must end up {s}|i want {o} to go {s}|{o} needs to go {s}|{o} needs to get {s}
let {o} go {s}|i'd like to find {o} {s}|there is room for {o} {s}, so please|{o}? {s} please|{d} could use {o}|{d} is missing {o}|let {d} have {o}|have {o} go {s}|the place of {o} is {s}|{d} lacks {o}, do something about it"""
FORBID = """don't {b}|do not {b}|never {b}|please don't {b}|please do not {b}|you must not {b}|you mustn't {b}|you should not {b}|you can't {b}|don't you dare {b}
do not ever {b}|i don't want you to {b}|i do not want you to {b}|no need to {b}|there is no need to {b}|you need not {b}|you don't have to {b}
nobody should {b}|avoid {g}|stop {g}|refrain from {g}|no {g}|no {g} please|without {g}|instead of {g}, wait|forget about {g}|hold off on {g}
cancel {g}|skip {g}|quit {g}|leave off {g}|i'd rather you did not {b}|i would prefer that you don't {b}|it is forbidden to {b}|you are not allowed to {b}
whatever you do, don't {b}|under no circumstances {b}|in no case {b}|i forbid you to {b}|{b}? no, don't|{b} - no wait, stop|{b}... actually no
{b}, no, leave it|please never {b}|make sure you do not {b}|be careful not to {b}|try not to {b}|let's not {b}|we should not {b}|we must not {b}
do anything but {b}|anything except {g}|it's better not to {b}|it would be bad to {b}|it is not the time to {b}|{g} is not allowed|{g} is forbidden
{g} is a bad idea|you had better not {b}|i told you not to {b}|there's no reason to {b}|you are not to {b}|do not even think of {g}|no one may {b}
don't bother {g}|i never said to {b}|i don't need you to {b}|abort {g}|{g} must be avoided|keep from {g}|cannot have you {b}|hold on, don't {b} yet
do not {b} yet|not yet, wait before you {b}|wait with {g}|wait, before you {b}|ignore what i said about {g}|i changed my mind about {g}"""
FORBID_STATE = """{o} must not be {s}|{o} should not be {s}|{o} is not to be {s}|i don't want {o} {s}|i do not need {o} {s}|{o} does not need to be {s}
{o} need not be {s}|{o} mustn't be {s}|never have {o} {s}|make sure {o} is not {s}|{o} may not be {s}|i never want {o} {s}|we don't want {o} {s}
{o} shouldn't get {s}|i would hate to have {o} {s}|don't get {o} {s}|nobody wants {o} {s}|keep {o} from being {s}|{o} can't be {s}"""
KEEP = """leave {o} alone|leave {o} as it is|hands off {o}|don't touch {o}|do not touch {o}|keep away from {o}|stay away from {o}|leave {o} be|leave {o}
keep off {o}|let {o} be|ignore {o}|forget {o}|forget about {o}|keep your hands off {o}|not {o}|do nothing to {o}|anything but {o}|spare {o}|never mind {o}
you don't need to do anything with {o}|no more {o}|don't do anything to {o}|don't move {o}"""
KEEP_STATE = """leave {o} {s}|keep {o} {s}|{o} must stay {s}|{o} should stay {s}|{o} should remain {s}|{o} can stay {s}|{o} may stay {s}|let {o} stay {s}
{o} has to stay {s}|{o} is fine {s}|leave {o} the way it is, {s}|make sure {o} stays {s}|{o} must remain {s}|i like {o} {s}|keep {o} {s} as it is"""
ASKED = """check that {o} is {s}|do you want {o} {s}|would {o} be {s} if you pulled it|would you feel better with {o} {s}|can i see {o} {s}|would it help to have {o} {s}|must {o} be {s}|do you like {o} {s}|who would like {o} {s}
is {o} {s}|is {o} {s} already|was {o} {s}|why is {o} {s}|how come {o} is {s}|has {o} been {s}|is {o} really {s}|is it true that {o} is {s}|are you sure {o} is {s}
who left {o} {s}|when was {o} {s}|do you think {o} is {s}|can you tell me if {o} is {s}|can you see whether {o} is {s}|tell me whether {o} is {s}|what if {o} is {s}
did you want {o} {s}|should {o} be {s}|could {o} be {s}|does {o} have to be {s}|is {o} supposed to be {s}|do you know if {o} is {s}|check whether {o} is {s}|how long has {o} been {s}
does {o} need to be {s}|who wants {o} {s}|will {o} be {s} by then|what happens when {o} is {s}|isn't {o} {s}|how far is {o} {s}"""
ASKED_ACT = """did you {b}|have you {p}|who {p2}|how do i {b}|how can i {b}|what happens if you {b}|do you know how to {b}|should i {b}|shall i {b}|may i {b}|when did you {b}
why did you {b}|why would you {b}|what would happen if i {b}|how long does it take to {b}|where do i {b}|have you ever {p}|is it hard to {b}|is it safe to {b}
did anybody {b}|did i ask you to {b}|did i already {b}|when will you {b}|who told you to {b}|do i have to {b}|do you like {g}|are you {g}|were you {g}|is he {g}
what does it mean to {b}|how often do you {b}|can i {b}|could i {b} myself|what do i need to {b}|is {g} difficult|are you {g} right now|how would you {b}|would you rather wait than {b}"""
TOLD = """{o} is {s}|{o} is already {s}|{o} was {s}|{o} has been {s}|{o} is {s} now|{o} looks {s}|{o} seems to be {s}|{o} stays {s}|{o} was {s} yesterday|i see that {o} is {s}
i noticed that {o} is {s}|{o} is still {s}|somebody left {o} {s}|{o} is usually {s}|now {o} is {s}|good, {o} is {s}|i found {o} {s}|you left {o} {s}|{o} isn't {s}|{o} is not {s}|{o} is no longer {s}"""
TOLD_ACT = """i have {p}|i have already {p}|i {p2}|he {p2}|she {p2} this morning|somebody {p2}|we {p2}|my colleague {p2}|they have {p}|i {p2} because it was time|you have {p}|you {p2} already
i am {g}|he is {g}|she was {g}|they are {g}|i like {g}|i enjoy {g}|{g} is easy|{g} is fun|{g} was hard|{g} took ages|i was {g} when you called|we always {b} at night|i usually {b} myself"""
THANKED = """thanks for {g}|thank you for {g}|good job {g}|well done {g}|nice work {g}|cheers for {g}|i am glad you {p2}|great that you {p2}|sorry for {g}|many thanks for {g}|thanks, {o} is {s}|it was kind of you to {b}"""
UNREAL_ACT = """it is too early to {b}|it is too late to {b}|i wish i had {p}|it is wrong, {g}|it is dangerous, {g}|it is {adj}, {g}|it is {adj} to {b}|we were asked, {b}|i would like to {b} myself|i want to {b} myself|i prefer to {b} myself|if you could {b} what would happen|if you would {b} i would be angry|i am trying to {b}|i am about to {b}|i tried to {b}|i was hoping to {b} before noon|let {o} be {s} by somebody else|i need to {b} on my own|now that {o} is {s}, we can go|given that {o} is {s}, i am {adj}|the {o} that you {p2}|{o} that somebody {p2}
if you {p2}, it would be loud|if i {p2}, would you mind|imagine {g}|imagine you had to {b}|i wonder what happens when you {b}|suppose you {p2}|i might {b} later|i will {b} myself
i'll {b} in a minute|i'm going to {b}|maybe somebody should {b}|you could have {p}|you should have {p}|he wants to {b}|my brother wants to {b}|tell anna to {b}|she asked him to {b}|he said "{b}"
he told me to {b}|the sign says "{b}"|the note reads: {b}|the manual says to {b}|remind me to {b}|{b} tomorrow|{b} later|{b} in ten minutes|later today {b}|next time {b}|{b} some other day|{b} tonight
tomorrow you can {b}|ask him to {b}|let me {b}|i can {b} myself|i would {b} if i had time|they told us to {b}|the boss ordered us to {b}|i dreamt of {g}|pretend to {b}|i was told to {b}|yesterday you had to {b}
we were supposed to {b}|the robot in the other room should {b}|my friend will {b}|i'd like to learn how to {b}|explain how to {b}|show me how to {b}|tell me how to {b}|describe how to {b}|write down how to {b}
people often {b}|robots can {b}|one can {b}|you used to {b}|i used to {b}|i saw him {b}|watch me {b}|let him {b}|let her {b}, not you|she will {b} for us|translate "{b}"|what does "{b}" mean
say "{b}"|repeat after me: {b}|it is my turn to {b}|the children want to {b}|nobody told you to {b}|anna, please {b}|it would be funny to {b}|once upon a time a robot had to {b}|in the film they {b}
i plan to {b}|we intend to {b}|some day you will {b}|on friday {b}|at noon {b}|{b} next week|{b} when i say so|be ready to {b}|prepare to {b}|stand by to {b}|i may ask you to {b}|i could {b}|promise to {b}"""
UNREAL_STATE = """if {o} were {s}, i would be happy|imagine {o} {s}|suppose {o} is {s}|he wants {o} {s}|my boss wants {o} {s}|i wonder if {o} is {s}|{o} will be {s} tomorrow|it would be strange if {o} was {s}|she said {o} is {s}
{o} should have been {s}|i heard that {o} is {s}|perhaps {o} is {s}|{o} might be {s}|let's pretend {o} is {s}|i'd like {o} {s} tomorrow|the report says that {o} is {s}|i bet {o} is {s}"""
PARTLY = """{b} halfway|{b} a bit|{b} a little|{b} by 5 cm|{b} for ten seconds|{b} 30 percent|half {b}|{b} by {n} degrees|{b} with {n} newtons|{b} a bit further|{b} partly|{b} some more|{b} {n} cm|{b} for {n} minutes
{b} at {n} percent|almost {b}|{b} just a crack|nearly {b}|{b} only slightly|{b} a touch more|partially {b}|{b} with half the force|{b} about a third of the way"""
RETRACTED = """{x}, no, cancel|{x}... stop, not yet|{x}. on second thought, leave it|{x}. correction: don't do it|{x}! just kidding|{x}, no, hold on, leave it be|{x} - scratch that|{x}. forget it|{x}... wait, no|{x}, or rather don't|{x}, oh never mind|{x}, no no, wait
{x}. just kidding, leave it|{x}, actually no, let it be|{x}? no thanks|{x}, stop stop|{x}. i take that back|{x}, hmm, better not|{x} - sorry, no, don't|{x}, cancel that|{x}! no! stop!|{x}. no, i changed my mind|{x}. wait, i was joking|{x}, no, that's wrong, leave it|{x}. ignore that|{x}, that was a joke"""
PERSONS = "anna|my brother|the boss|the night shift|the guests|the children|my wife|the customer|the doctor|the driver|our neighbour|the new colleague|tom|the technician|somebody else|the other robot|the plumber|the nurse|my trainer|jenny|the guard|the inspector|the student|the visitors"
THIRD = """{who} has to {b}|{who} should {b}|{who} should {b}, it's not your job|{who} must {b}|{who} will {b}|{who} needs to {b}|{who} can {b}, he has the right tool|{who} had to {b}|{who} forgot to {b}|{who} never managed to {b}|{who} promised to {b}|{who} is going to {b}|{who} always used to {b}|let {who} {b}|{who} could {b} instead of you
someone other than you should {b}|we used to {b}|we used to {b} every day|they always had to {b}|if only {who} would {b} for once|if i had {p}, it would have been better|if you had {p}, nothing would have happened|if {who} had {p}, i would not be here|if we ever {b}, we will be in trouble|what would happen if someone had to {b}
in theory, could you {b}|theoretically, can you {b}|could you, in theory, {b}|hypothetically, would you {b}|let's say i {p2}, would it matter|say you had to {b}, how long would it take|just imagine {who} {p2}|the poster says: {b}|the instructions said to {b}|the label reads {b}|'{b}' is what {who} said|{who} said: {b}
{who} shouted "{b}"|his motto was '{b}'|the last line of the poem is '{b}'|{who} thinks you should {b}|{who} asked me to {b}|{who} dreams of {g}|{who} likes {g}|{who} was {g} all day|{who} is {g} right now|{who} {p2}|{who} {p2} this morning|{who} {p2} by mistake|i remember {g}|{g} hurts my hands|{g} takes about a minute|{g} costs money|{g} is part of the training
after {g} i went home|before {g} {who} had lunch|{who} wrote a book about {g}|{who} got hurt while {g}|you were right about {g}|it was a mistake to {b}|it was easy to {b}|it is impossible to {b}|nobody knows how to {b}|{who} taught me to {b}|yesterday {who} {p2}|in the old days you had to {b}|at home we {b} every morning|have you ever seen {who} {p}"""
SAYINGS = """he has a {n} on his shoulder|she really pushed the {n}|everyone is on the {n} now|that was a bit below the {n}|he let the cat out of the {n}|it's not the end of the {n}|don't judge a {n} by its colour|he kicked the {n}|she hit the {n} on the head|that rings a {n}|they are all in the same {n}|he has lost his {n}|it is a piece of {n}|she's got a {n} loose|he is a real {n}|we will cross that {n} later|you can't have your {n} and eat it
the {n} is always greener|i could eat a {n}|she is over the {n}|he turned over a new {n}|strike while the {n} is hot|a watched {n} never boils|the last {n} breaks the camel's back|he drives me up the {n}|this takes the {n}|we have bigger {n}s to fry|it opened the {n} to new ideas|the {n} of opportunity|the {n} is closed on that matter|{n} is a nice word|a {n} costs ten euros|i bought a {n} yesterday"""
SCENES = """{o} keeps rattling|{o} is in the way|{o} is dripping|{o} is too loud|{o} is bursting|{o} keeps sliding around|{o} has been like that long enough|{o} is nearly ready|{o} looks lonely|{o} is waiting|{o} is all over the place|{o} is lying around|{o} is dirty|{o} is getting cold|{o} annoys me|{o} is no use like that|there is {o}|there's no {n} left|no {n} in sight|wrong {n}|what a {n}|my {n} is {adj}
i need my {n}|i am looking for my {n}|a {n} is jammed|a {n} is coming|{who} is coming with a {n}|{who} will be here soon|{who} wants to see it|{who} needs to get in|{who} could trip over it|{who} had to leave|{who} asked for it|{who} left it like that|{who} came in late|{who} is on the phone|{who} will arrive at noon|{who} is {adj}|i'm about to start|i want to work on the {n}|i have to get into the {n}|we are out of {n}s|i can't find the {n}
i can't hold the {n} with my fingers|this {n} still has no {n}|the {n} is backing in|i am expecting a {n}|it must not get wet|the {n} looks {adj}|{who} said it was time|this {n} is mine|that {n} has seen better days|the {n} is the wrong way round|i'd rather not do it myself|we don't need it any more|{o} can rest now|the {n} has to know about it|i want to turn the {n} over|you know {o}, the one next to the {n}"""
REASONS = """it is {adj} in here|it's {adj}|i am {adj}|i'm so {adj}|my hands are full|i can't reach it|i can not do it myself|we are leaving soon|the guests are coming|somebody is at the door|i need something from there
i am done here|we are finished|we need to go on|i have to hurry|my back hurts|it smells|there is a draught|i can't see anything|the boss wants it|we start soon|it is getting late|i want to have a look|it is time
i have no time|i'm busy|the others are waiting|it bothers me|it makes so much noise|we need some fresh air|i want to start|it has been like that all day|that is enough for today|there's something i need|i promised it to anna
rain is coming|the meeting begins|the customer is waiting|i forgot to do it|nobody did it yet|you have time now|i trust you|this can't stay like this|it's not safe like that|i don't want an accident|it would not look good otherwise
the experiment is over|the shift ends|we had lunch|i hurt my arm|it's your turn|i just came back|i've been waiting|the baby is asleep|the kids are coming home|i am expecting a delivery|it is monday|my wife is asleep"""
ADJECTIVES = "broken old new open empty full cold hot stuffy dark noisy messy dirty tired late wet boring crowded windy bright sunny thirsty hungry freezing loud dusty smelly warm quiet chilly"
PURPOSES = """just to test it|just to be sure|to be on the safe side|so {o} can dry|so that {who} can see it|so i can get at the {n}|because {who} is coming|for {who}|to keep {o} safe|and that will be all|as {who} asked|by six o'clock|when {who} comes round|because of the {n}|to let some light in|like before|like you did last time|
so that i can see|so i can work|to save energy|for safety|so we can go on|so that nobody trips|to make room|to be on the safe side|for the visitors|so the run can start|so i can have a look|before it gets dark|so it does not get cold
to let some air in|for a moment|while i am away|so i can check it|for the next test|so that everybody can see it|because i need it|because it is late|because my hands are full|since i can't reach it|as we are done|as it is cold|because of the noise"""
TALK = """hello|good morning|hi there|thanks|thank you|well done|okay|alright|um|nice weather today|how nice|i see|sorry|great|perfect|never mind the mess|i had a long day|i am new here|you are a good robot|that was great|listen|hey robot|good|what a day|here we are|it's me again
excuse me|thank you very much|much appreciated|that's it|that is all|good to see you|welcome back|i love this place|the weather is fine|dinner was good|we won the game|my name is sam|i will be back in five minutes|we have plenty of time|this is the lab|i work here|no problem|no worries|no hurry|take your time
don't worry|you are welcome|not bad|i can't complain|if you like|when you have a moment|whenever you are ready|as soon as you can|if that's okay|if it isn't too much trouble|thanks in advance|cheers mate"""
GENERIC = """get {o}|have {o}|hold {o}|reach {o}|give {o} a rest|give {o} a miss|have a go at {o}|use force on {o}|bring {o}|put {o}|grab at {o}|go to {o}|turn {o}|point at {o}|lower yourself to {o}|do {o}
move {o}|do something with {o}|take care of {o}|deal with {o}|use {o}|handle {o}|adjust {o}|see to {o}|work on {o}|operate {o}|set up {o}|change {o}|prepare {o}|get {o} ready|do {o}|mind {o}"""
OTHER_PART = """the {x} {o}|the {o} of the {x}|the {o} in the {x}|the {o} on the {x}|the {x}'s {o}|the {o} {y}|the {y} of the {o}|the {o} next to the {x}|my neighbour's {o}|every {o}|all the {o}s|the other {o}|another {o}|a picture of the {o}|the {o} next door|the {o} upstairs"""
PARTS = "handle hinge cover label corner key holder repair shop factory manual colour frame edge screw cable cleaner drawer button window door light lid"
ADJUNCTS = ("over there", "in front of you", "here", "for me", "on the table", "right there", "as usual", "with care", "once more", "if possible", "all the way", "completely", "fully", "one more time", "with your gripper", "today", "at once", "immediately", "properly", "this time", "without delay", "in one go", "and nothing else", "and that's all")  # fmt: skip
DETERMINERS = ("the", "the", "the", "the", "the", "the", "that", "this", "my", "our", "")
OPENERS = ("", "", "", "", "", "hey robot, ", "robot, ", "ok ", "hello, ", "um ", "well, ", "hi, ", "hey, ", "so ", "right, ", "listen, ", "excuse me, ", "good morning, ", "oh and ", "now ", "alright, ")  # fmt: skip
CLOSERS = ("", "", "", "", "", " please", ", please", ", thanks", " thank you", ", cheers", ", ok?", " would you?", ", will you?", " mate", ", robot", " now", "!", ".", "?", " pls", ", that would be great", ", if you don't mind", ", when you have a moment")  # fmt: skip


def _table(text: str) -> tuple[str, ...]:
    return tuple(entry.strip() for line in text.splitlines() for entry in line.split("|"))


_TABLES = {
    name: _table(value) for name, value in list(globals().items()) if name.isupper() and isinstance(value, str)
}


_TAILS = frozenset("open shut closed on off up down in out left right wide over to together apart loose tight clean dry".split())


def order_words(lexicon: Lexicon) -> frozenset[str]:
    """Words of the ways to say an action, and of the frames around them: what a slip of the finger may be mended to."""
    said = [text for action in lexicon.actions.values() for text in (*action.say, *action.states)]
    framed = [entry for name in ("POLITE", "GERUND", "WISHED", "STATED", "TOPIC", "FORBID") for entry in _TABLES[name]]
    forms = [phrase(text, "", form=form) for action in lexicon.actions.values() for text in action.say for form in ("ing", "pp")]
    return frozenset(re.findall(r"(?<!{)\b[a-z]{3,}\b", " ".join((*said, *framed, *forms))))


class Speaker:
    """Says things about one deployment. Deterministic for its random generator."""

    def __init__(self, rng: random.Random, lexicon: Lexicon, tasks: Sequence[Task]) -> None:
        self._rng, self._lexicon, self._tasks = rng, lexicon, tasks
        self._placeless = False
        """Whether the utterance leaves out where to."""

    def utterance(self) -> Utterance:
        """Draw one utterance."""
        kinds: tuple[tuple[float, Callable[[], Utterance]], ...] = (
            (0.38, self._order), (0.20, self._impossible), (0.05, self._part), (0.06, self._forbidden),
            (0.05, self._question), (0.05, self._told), (0.09, self._unreal), (0.03, self._partly),
            (0.05, self._several), (0.04, self._talk), (0.06, self._vague), (0.05, self._remark_and_fragment),
        )  # fmt: skip
        self._placeless = self._rng.random() < 0.2
        chosen = self._rng.choices([make for _, make in kinds], [weight for weight, _ in kinds])[0]()
        text = " ".join(chosen.text.split())
        for _ in range(self._rng.choice((0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2))):
            text = mistyped(self._rng, text)
        return Utterance(text, chosen.act, chosen.labels)

    def _filled(self, text: str, task: Task | None = None) -> str:
        """A frame of talk, its gaps filled with any words."""
        rng = self._rng
        task = task or rng.choice(self._tasks)
        while "{n}" in text:
            thing = self._lexicon.thing(rng, tuple(k for k, things in self._lexicon.things.items() if things))
            text = text.replace("{n}", thing.said(rng), 1)
        text = text.replace("{o}", self._np(task.thing)).replace("{who}", self._pick("PERSONS"))
        return text.replace("{adj}", rng.choice(ADJECTIVES.split()))

    def _none(self, text: str, act: int) -> Utterance:
        return Utterance(text, act, (0.0,) * len(self._tasks))

    def _pick(self, table: str) -> str:
        return self._rng.choice(_TABLES[table])

    def _polite(self, base: str) -> str:
        """An order around words that begin with a verb."""
        verb, _, rest = base.partition(" ")
        return self._pick("POLITE").replace("{b}", base).replace("{p}", f"{participle(verb)} {rest}")

    def _np(self, thing: Thing, mark: bool = True, adjective: float = 0.08) -> str:
        """A noun phrase."""
        rng = self._rng
        word = thing.said(rng, 0.25, mark)
        if not thing.mark and rng.random() < adjective:
            word = f"{rng.choice((*COLOURS, *SIZES, 'old', 'new', 'stupid', 'nice', 'damn', 'whole'))} {word}"
        return f"{rng.choice(DETERMINERS)} {word}".strip()

    def _said(self, task: Task, form: str = "base", thing: str | None = None, to: str | None = None) -> str:
        """The task in one of its ways to say it."""
        pattern = self._rng.choice(task.action.say)
        where = to if to is not None else self._np(task.to, adjective=0.03) if task.to else ""
        thing = self._np(task.thing) if thing is None else thing
        return without_place(self._rng, pattern, thing, where, float(self._placeless), form)

    def _past(self, task: Task) -> str:
        """The task done: "closed the drawer"."""
        verb, _, rest = self._said(task).partition(" ")
        return f"{participle(verb)} {rest}"

    def _state(self, task: Task) -> str:
        """A state that the task brings about, or its participle."""
        where = self._np(task.to, adjective=0.03) if task.to else ""
        states = [state for state in task.action.states if not self._placeless or "{d}" not in state]
        if states and self._rng.random() < 0.65:
            return self._rng.choice(states).replace("{d}", where)
        pattern = self._rng.choice([p for p in task.action.say if " {o}" in f" {p}" and " it " not in p])
        return without_place(self._rng, pattern, "", where, float(self._placeless), "pp")

    def _core(self, task: Task) -> str:
        """An order of one task, without openers, reasons and closers."""
        rng, roll = self._rng, self._rng.random()
        placed = [state for state in task.action.states if state.split()[0] in ("in", "on", "inside", "at")]
        if task.to and placed and rng.random() < 0.15:
            where = self._np(task.to, adjective=0.04)
            text = self._pick("PLACED").replace("{s}", rng.choice(placed)).replace("{d}", where)
            return text.replace("{o}", self._np(task.thing)).replace("{n}", task.thing.said(rng))
        if roll < 0.52:
            text = self._polite(self._said(task))
            return f"{text} {rng.choice(ADJUNCTS)}" if rng.random() < 0.12 else text
        if roll < 0.60:
            return self._pick("GERUND").replace("{g}", self._said(task, "ing"))
        if roll < 0.80:
            return self._pick("WISHED").replace("{o}", self._np(task.thing)).replace("{s}", self._state(task))
        if roll < 0.86:
            return self._pick("STATED").replace("{o}", self._np(task.thing)).replace("{s}", self._state(task))
        if roll < 0.95:
            pronoun = self._said(task, thing="it")
            text = self._pick("TOPIC").replace("{i}", pronoun).replace("{o}", self._np(task.thing))
            opposite = self._lexicon.actions.get(task.action.opposite)
            if opposite and opposite.states and rng.random() < 0.4:
                where = self._np(task.to) if task.to else ""
                state = rng.choice(opposite.states).replace("{d}", where)
                told = self._pick("TOLD").replace("{o}", self._np(task.thing)).replace("{s}", state)
                text = f"{told}{rng.choice((', ', ' so ', '. ', ', so ', ' and '))}{pronoun}"
            return text
        return self._said(task).replace("the ", "")

    def _framed(self, core: str) -> str:
        """The order with what people say around it."""
        rng, roll = self._rng, self._rng.random()
        reason = self._filled(self._pick("REASONS" if rng.random() < 0.4 else "SCENES"))
        if rng.random() < 0.25 and self._tasks:
            other = rng.choice(self._tasks)
            state = self._state(other)
            reason = self._pick("TOLD").replace("{o}", self._np(other.thing)).replace("{s}", state)
        if roll < 0.13:
            core = f"{reason}{rng.choice((', ', ' so ', '. ', ', so ', ' - ', '; '))}{core}"
        elif roll < 0.18:
            core = f"{core}{rng.choice((', ', '. ', ' because ', ', ', ' since ', ' - '))}{reason}"
        elif roll < 0.23:
            core = f"{core}{rng.choice((' ', ', '))}{self._filled(self._pick('PURPOSES'))}"
        elif roll < 0.26:
            core = f"{self._pick('TALK')}{rng.choice((', ', '. '))}{core}"
        elif roll < 0.28:
            core = f"{core}{rng.choice((', ', '. '))}{self._pick('TALK')}"
        return f"{rng.choice(OPENERS)}{core}{rng.choice(CLOSERS)}"

    def _labels(self, task: Task, marked: bool = True) -> tuple[float, ...]:
        """1 for the task, unknown for those that may mean the same, 0 for the others."""
        labels = []
        for other in self._tasks:
            same = other.thing.names == task.thing.names
            rival = same and other.action is task.action and _names(other.to) == _names(task.to)
            elsewhere = same and other.action is task.action and self._placeless
            if other is task or (elsewhere and other.thing.mark == task.thing.mark):
                labels.append(1.0)
            elif rival and not marked:
                labels.append(1.0)  # it may be either of them: the margin between the two asks
            elif same and self._lexicon.near(other.action, task.action):
                labels.append(IGNORED)
            else:
                labels.append(0.0)
        return tuple(labels)

    def _order(self) -> Utterance:
        task = self._rng.choice(self._tasks)
        marked = not task.thing.mark or self._rng.random() < 0.55
        if not marked:
            bare = Task(task.action, Thing(task.thing.names), task.to, task.examples)
            text = self._framed(self._core(bare))
        else:
            text = self._framed(self._core(task)) if self._rng.random() < 0.85 else self._core(task)
        return Utterance(text, ORDER, self._labels(task, marked))

    def _impossible(self) -> Utterance:
        """Another thing, another action, another place, a swap of the two, or something else altogether."""
        rng, lexicon, task = self._rng, self._lexicon, self._rng.choice(self._tasks)
        roll = rng.random()
        action, thing, to = task.action, task.thing, task.to
        if rng.random() < 0.2:
            return self._elsewhere(task)
        if roll < 0.12:
            free = rng.choice(lexicon.unrelated)
            if roll < 0.09:
                known = rng.random() < 0.6
                thing = thing if known else lexicon.thing(rng, tuple(k for k, t in lexicon.things.items() if t))
                free = f"{rng.choice(lexicon.free_verbs)} {self._np(thing)}"
            return self._none(self._framed(self._polite(free)), ORDER)
        if roll < 0.35:
            thing = lexicon.thing(rng, action.kinds if rng.random() < 0.7 else tuple(lexicon.things))
        elif roll < 0.48 and action.opposite and action.opposite in lexicon.actions:
            action = lexicon.actions[action.opposite]
        elif roll < 0.78 or to is None:
            same_kind = [a for a in lexicon.actions.values() if bool(a.to) == bool(to)]
            action = rng.choice(same_kind)
            to = lexicon.thing(rng, action.to) if action.to and rng.random() < 0.5 else to
        elif roll < 0.86:
            to = lexicon.thing(rng, action.to if rng.random() < 0.6 else tuple(lexicon.things))
        else:
            thing, to = to, thing
        if thing is task.thing and rng.random() < (0.5 if thing.mark else 0.1):
            other_mark = lexicon.mark(rng, thing)
            if thing.mark or other_mark not in (*COLOURS, *SIDES):
                thing = Thing(thing.names, other_mark)  # the car window is not the window
        if to is not None or task.to is not None:
            self._placeless = False
        other = Task(action, thing, to, ())
        labels = []
        for known in self._tasks:
            alike = (known.thing.names == thing.names or known.thing.is_like(thing)) and (
                known.action is action or lexicon.near(known.action, action)
            )
            labels.append(IGNORED if alike and (_same_place(known.to, to) or not known.to) else 0.0)
        return Utterance(self._framed(self._core(other)), ORDER, tuple(labels))

    def _elsewhere(self, task: Task) -> Utterance:
        """The task's thing is only where something else is, or is to go: "put the spoon in the drawer"."""
        rng = self._rng
        other = self._lexicon.thing(rng, tuple(kind for kind, things in self._lexicon.things.items() if things))
        if other.is_like(task.thing) or other.names == task.thing.names:
            return self._talk()
        labels = tuple(
            IGNORED if known.thing.names == other.names or known.thing.is_like(other) else 0.0 for known in self._tasks
        )
        moved = [action for action in self._lexicon.actions.values() if action.to]
        self._placeless = False
        if rng.random() < 0.6:
            text = self._core(Task(rng.choice(moved), other, task.thing, ()))
            return Utterance(self._framed(text), ORDER, labels)
        where = rng.choice(("next to", "beside", "on", "in", "by", "near", "behind", "under"))
        scene = rng.choice(("the {x} is {w} {o}", "there is a {x} {w} {o}", "you see the {x} {w} {o}", "my {x} lies {w} {o}", "the {x} goes {w} {o}"))  # fmt: skip
        text = scene.replace("{x}", other.said(rng)).replace("{w}", where).replace("{o}", self._np(task.thing))
        return self._none(f"{text}{rng.choice((', ', '. ', ' so ', ' and '))}{self._said(task, thing='it')}", ORDER)

    def _part(self) -> Utterance:
        """A thing that only sounds like one of the deployment: the car window, the button of the lift."""
        rng, task = self._rng, self._rng.choice(self._tasks)
        kinds = rng.choice([kind for kind in self._lexicon.things if self._lexicon.things[kind]])
        other = rng.choice(self._lexicon.things[kinds]).names[0]
        text = self._pick("OTHER_PART").replace("{x}", other).replace("{y}", rng.choice(PARTS.split()))
        name = text.replace("{o}", task.thing.said(rng, 0.1))
        return self._none(self._framed(self._polite(self._said(task, thing=name))), ORDER)

    def _acted(self, table: str, task: Task | None = None) -> str:
        """A frame of a table, filled with a task; one in six is about a task of no skill."""
        rng = self._rng
        if task is None:
            task = rng.choice(self._tasks)
        base = self._said(task)
        past = self._past(task)
        return (
            self._pick(table).replace("{b}", base)
            .replace("{g}", self._said(task, "ing"))
            .replace("{p2}", past)
            .replace("{p}", past)
            .replace("{o}", self._np(task.thing))
            .replace("{s}", self._state(task))
            .replace("{n}", str(rng.randint(2, 90)))
            .replace("{who}", self._pick("PERSONS"))
            .replace("{adj}", rng.choice(ADJECTIVES.split()))
        )

    def _forbidden(self) -> Utterance:
        table = self._rng.choice(("FORBID", "FORBID", "FORBID", "FORBID_STATE", "KEEP", "KEEP_STATE", "RETRACTED"))
        if table == "RETRACTED":
            order = self._framed(self._core(self._rng.choice(self._tasks))).strip(" ,.?!")
            return self._none(self._pick(table).replace("{x}", order), FORBIDDEN)
        text = self._acted(table)
        if self._rng.random() < 0.3:
            text = self._framed(text)
        elif self._rng.random() < 0.15:
            text = f"{self._core(self._rng.choice(self._tasks))}{self._rng.choice((' but ', ', and ', '. ', ', but '))}{text}"
        return self._none(text, FORBIDDEN)

    def _question(self) -> Utterance:
        text = self._acted(self._rng.choice(("ASKED", "ASKED_ACT")))
        return self._none(self._rng.choice(OPENERS) + text + self._rng.choice(("?", "?", "", " now?")), QUESTION)

    def _told(self) -> Utterance:
        table = self._rng.choice(("TOLD", "TOLD", "TOLD_ACT", "THANKED", "SAYINGS"))
        if table == "SAYINGS":
            say = self._filled(self._pick(table).replace("{n}", self._rng.choice(self._tasks).thing.names[-1], 1))
            return self._none(say, STATEMENT)
        return self._none(self._rng.choice(OPENERS) + self._acted(table), STATEMENT)

    def _unreal(self) -> Utterance:
        table = self._rng.choice(("UNREAL_ACT", "UNREAL_ACT", "UNREAL_STATE", "THIRD", "THIRD", "THIRD"))
        return self._none(self._rng.choice(OPENERS) + self._acted(table), UNREAL)

    def _partly(self) -> Utterance:
        text = self._acted("PARTLY")
        return self._none(self._polite(text) if self._rng.random() < 0.4 else text, ORDER)

    def _several(self) -> Utterance:
        """Several orders in one: exactly none of them."""
        rng, first = self._rng, self._rng.choice(self._tasks)
        parts = [self._core(first)]
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
            second = rng.choice(self._tasks)
            free = self._polite(rng.choice(self._lexicon.unrelated))
            kind = rng.choice(tuple(self._lexicon.actions.values()))
            where = self._lexicon.thing(rng, kind.to) if kind.to else None
            foreign = self._said(Task(kind, self._lexicon.thing(rng, kind.kinds), where, ()))
            plain = self._said(second, thing="it" if rng.random() < 0.3 and second.thing == first.thing else None)
            thing = self._np(second.thing)
            chosen = (self._core(second), plain, plain, thing) if second is not first else (free, foreign)
            parts.append(rng.choice((*chosen, foreign)))
        if rng.random() < 0.3:
            rng.shuffle(parts)
        joint = rng.choice((" and ", ", then ", ", ", " and then ", "; ", ". ", " after you ", " before you ", ", afterwards ", " and "))
        text = joint.join(parts)
        if len(parts) == 2 and rng.random() < 0.25:
            text = rng.choice((f"{parts[0]}, but first {parts[1]}", f"{parts[0]}, but {parts[1]} first",
                               f"before you {parts[0]}, {parts[1]}", f"after {self._said(first, 'ing')}, {parts[1]}",
                               f"first {parts[0]}, finally {parts[1]}", f"both {parts[0]} and {parts[1]}"))  # fmt: skip
        return self._none(self._framed(text), ORDER)

    def _talk(self) -> Utterance:
        table = self._rng.choice(("TALK", "REASONS", "SCENES", "SCENES", "PURPOSES"))
        return self._none(self._filled(self._pick(table)), STATEMENT)

    def _vague(self) -> Utterance:
        """A verb that says too little: "do the door", or "slide the door" where it may slide either way."""
        rng, task = self._rng, self._rng.choice(self._tasks)
        text = self._pick("GENERIC").replace("{o}", self._np(task.thing))
        if rng.random() < 0.5:
            tailed = [p for p in task.action.say if p.split()[-1] in _TAILS and p.split()[-2] == "{o}"]
            bare = [" ".join(p.split()[:-1]) for p in tailed]
            known = {p for action in self._lexicon.actions.values() for p in action.say if self._may_mean(action, task)}
            if fitting := [p for p in bare if p not in known]:
                text = phrase(rng.choice(fitting), self._np(task.thing))
        return self._none(self._polite(text), ORDER)

    def _may_mean(self, action: Action, task: Task) -> bool:
        return action is task.action or self._lexicon.near(action, task.action)

    def _remark_and_fragment(self) -> Utterance:
        """A thing alone, a verb alone, or a remark about a thing."""
        rng, task = self._rng, self._rng.choice(self._tasks)
        roll = rng.random()
        if roll < 0.2:
            text = self._polite(self._said(task, thing=rng.choice(("it", "it", "them", "that"))))
            return self._none(text, ORDER)
        if roll < 0.45:
            text = self._np(task.thing) + rng.choice(("", "", " as well", " too", " please", " again"))
            return self._none(text, FRAGMENT)
        if roll < 0.6:
            return self._none(" ".join(self._said(task, thing="").split()).replace(" to", ""), FRAGMENT)
        if roll < 0.66 and task.action.states:
            state = rng.choice(task.action.states).replace("{d}", "")
            where = rng.choice(("an {s} {o}", "the {s} {o}", "a {s} {o}", "close to the {o}", "next to the {o}", "near the {o}", "{s} {o} in town"))
            return self._none(where.replace("{s}", state).replace("{o}", task.thing.said(rng)), FRAGMENT)
        if roll < 0.75:
            return self._none(f"{rng.choice(('on', 'in', 'to', 'into'))} {self._np(self._lexicon.thing(rng, tuple(self._lexicon.things)))}", FRAGMENT)
        remark = rng.choice(("is broken", "is stuck", "is heavy", "looks nice", "is made of wood", "was expensive", "is mine", "is over there", "makes a noise", "belongs to anna", "is new", "opens easily", "does not work", "is on the left", "got dirty", "needs a new handle"))  # fmt: skip
        return self._none(f"{self._np(task.thing)} {remark}", STATEMENT)


def _same_place(one: Thing | None, other: Thing | None) -> bool:
    return _names(one) == _names(other) or bool(one and other and one.is_like(other))


def _names(thing: Thing | None) -> tuple[str, ...]:
    return thing.names if thing else ()


def mistyped(rng: random.Random, text: str) -> str:
    """One slip of the finger in a word of four letters or more."""
    spots = [i for i in range(1, len(text) - 1) if text[i - 1 : i + 2].isalpha()]
    if not spots:
        return text
    at = rng.choice(spots)
    letter = rng.choice("abcdefghijklmnopqrstuvwxyz")
    return rng.choice(
        (
            text[:at] + text[at + 1] + text[at] + text[at + 2 :],
            text[:at] + text[at + 1 :],
            text[:at] + text[at] + text[at:],
            text[:at] + letter + text[at + 1 :],
        )
    )
