"""The recorder, which writes the messages of a deployment to segments and has these turned into episodes.

All methods are called from one thread. They block only on the disk and on the encoder's pipe, and the control of the
arm never waits for them.
"""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from openral_core.errors import OpenralError, OutputError
from openral_core.files.output_folder import write_fault
from openral_core.process.announcements import RECORDING_STOPPED
from openral_data.episode_bag import EpisodeBag
from openral_data.recorded_columns import RecordedColumns
from openral_data.recording.assembler import ExecutedStep, FrameAssembler, RecordingLosses
from openral_data.recording.dataset_ring import DatasetRing
from openral_data.recording.encoder_client import VideoEncoder
from openral_data.recording.episode_notes import EpisodeNotes, SkillNote
from openral_data.recording.finisher_thread import EpisodeFinisher
from openral_data.recording.frame import RecordedFrame
from openral_data.recording.journal import SegmentWriter
from openral_data.recording.outcome import UNKNOWN
from openral_data.recording.strategy import HIGHLIGHT_PART_S, HIGHLIGHT_S, Strategy
from openral_data.recording_folder import BAG_NAME, GIGABYTE, RecordingFolder, RecordingLock

FLUSH_S = 0.5
"""[s] time between two flushes, which bounds the loss by a kill."""
MOST_LATCHED = 64
"""Most messages of a latched topic that later bags begin with, such as one for each skill; the newest."""
COMES_BACK, RETRY_S = 1.1, 10.0
"""Recording resumes when the free space exceeds this multiple of the floor, and this time [s] after a failed write."""


@dataclass(frozen=True)
class Latched:
    """A message of a latched topic, which later bags need as well."""

    topic: str
    type_name: str
    data: bytes


@dataclass
class _Open:
    """The segment that is being written."""

    writer: SegmentWriter
    bag: EpisodeBag
    notes: EpisodeNotes
    described: dict[str, Any]
    interventions: int = 0


class EpisodeRecorder:
    """Records by a strategy. It pauses below a floor of free space and after failed writes."""

    def __init__(
        self,
        folder: RecordingFolder,
        columns: RecordedColumns,
        strategy: Strategy,
        *,
        truth: Path | None,
        min_free_gb: float,
        say: Callable[[str, bool], None],
        profiles: dict[str, list[Any]] | None = None,
        from_bags: bool = False,
        tasks: Mapping[str, str] | None = None,
    ) -> None:
        """Open the folder.

        Args:
            folder: of the recording.
            columns: of its frames.
            strategy: of the recording.
            truth: the simulator's record, which is read after each episode; None: there is none.
            min_free_gb: [GB] the floor of free space.
            say: called with a line of text, and whether it reports a problem.
            profiles: offered QoS profiles by topic, for the bags.
            tasks: the scene's tasks by phrases in lower case.
            from_bags: whether messages come from bags; ids of episodes then depend on their content, so that none is
                appended twice.

        Raises:
            OpenralError: the folder cannot be written, is in use, or holds a dataset with other columns.
        """
        folder.prepare()
        self._lock = RecordingLock(folder)
        try:
            ring = DatasetRing(folder.root, columns, strategy)
            self._encoder = VideoEncoder(columns)
        except BaseException:
            self._lock.release()
            raise
        self.folder, self.columns, self.strategy = folder, columns, strategy
        self.assembler = FrameAssembler(columns)
        self.stopped_by = ""
        self.repeated_images = self.missing_steps = 0
        """Totals over the ended episodes since the start."""
        self._say, self._profiles, self._floor = say, profiles or {}, min_free_gb * GIGABYTE
        self._from_bags, self._tasks = from_bags, tasks or {}
        self._finisher = EpisodeFinisher(ring, truth, say)
        self._open: _Open | None = None
        self._past: deque[tuple[Path, EpisodeNotes]] = deque()
        self._latched: dict[str, Latched] = {}
        self._skills: dict[str, SkillNote] = {}
        self._last: EpisodeNotes | None = None
        self._sentence = self._sim_task = self._mission = ""
        self._commanded_by = ""
        self._flushed_s = self._looked_s = self._retry_s = 0.0
        self._count = self._received_ns = self._world = 0

    # -- state -------------------------------------------------------------------------------------

    @property
    def notes(self) -> EpisodeNotes | None:
        """Metadata of the segment that is being written; None: there is none."""
        return self._open.notes if self._open else None

    @property
    def frames(self) -> int:
        """Number of frames so far in the segment that is being written."""
        return self._open.writer.frames if self._open else 0

    @property
    def episodes(self) -> int:
        """Number of episodes in the dataset."""
        return self._finisher.episodes

    @property
    def free_bytes(self) -> int:
        """Free space in bytes on the disk of the recording; 0: its folder is gone."""
        try:
            return shutil.disk_usage(self.folder.root).free
        except OSError:
            return 0

    # -- received messages -------------------------------------------------------------------------

    def message(self, topic: str, type_name: str, data: bytes, received_ns: int, *, latched: str) -> None:
        """Write a message (CDR) to the bag of the segment.

        With a name `latched`, the newest message of that name is written to the bags of later segments as well.
        """
        self._received_ns = received_ns
        if latched:
            self._latched.pop(latched, None)  # the newest is to be the last
            self._latched[latched] = Latched(topic, type_name, data)
            kept = [name for name, message in self._latched.items() if message.topic == topic]
            for name in kept[:-MOST_LATCHED]:
                del self._latched[name]
        if self._open is not None:
            bag = self._open.bag
            self._try(lambda: bag.write(topic, type_name, data, received_ns))

    def forget(self) -> None:
        """Discard what was heard, before the messages of another deployment; call it between episodes."""
        self.assembler.restart()
        self.assembler.goal_ended()
        self._latched.clear()
        self._skills.clear()
        self._sentence = self._sim_task = self._mission = self._commanded_by = ""

    def executed(self, stamp_s: float, step: ExecutedStep) -> None:
        """Add an executed control step by the stamp [s] of its resulting state."""
        if self.assembler.is_apart(stamp_s):
            self.began_anew()
        by_operator = step.intervention or self._commanded_by == "operator"
        frames = self.assembler.executed(stamp_s, ExecutedStep(step.action, step.held, by_operator))
        self._write(frames)
        if self._open is not None:
            self._open.notes.end_s = stamp_s

    def began_anew(self, stamp_s: float | None = None) -> None:
        """End the episode, and begin another one of the same goal: no control step leads from one state to the next.

        So no episode has two worlds after a reset of the simulator, nor a jump where steps were not received.

        Args:
            stamp_s: [s] stamp of the first state; images with later ones belong to the new episode. None: not known.
        """
        before = self._open
        if before is not None:
            self._end(early=True)
        self._world += 1
        if before is not None and self.strategy.by_goal:
            self._begin(before.notes.skill, by_order=before.notes.by_order)
        self.assembler.goal_ended()
        self.assembler.restart(stamp_s)

    def commands(self, who: str) -> None:
        """Note who commands the arm, from `commanded_by` of `openral/msg/ControlStatus`."""
        self._commanded_by = who

    def by_hand(self, goal_id: str) -> bool:
        """Return whether a goal is one of teleoperation."""
        return any(skill.by_hand and skill.goal_id == goal_id for skill in self._skills.values() if goal_id)

    def skill(self, said: SkillNote) -> None:
        """Process an announcement; goals of policies and teleoperation begin and end episodes."""
        who = f"{said.node} {said.name}"  # one node may offer several skills
        before = self._skills.get(who)
        self._skills[who] = said
        if not self.strategy.by_goal or not said.demonstrates:
            return
        running = self._open.notes.skill if self._open else None
        own = running is not None and (running.node, running.name) == (said.node, said.name)
        over = own and running is not None and running.goal_id != said.goal_id
        if over and self._open is not None and not self._open.notes.by_order:
            self._end()
        if said.goal_id and (before is None or before.goal_id != said.goal_id):
            if self._open is None:
                self._sentence = ""
                self._begin(said, by_order=False)
            elif self._open.notes.skill is None:
                self._open.notes.skill = said

    def instruction(self, words: str) -> None:
        """Note the instruction that is being executed."""
        self._sentence = words or self._sentence
        if self._open is not None and words:
            self._open.notes.sentence = words

    def mission(self, text: str, skill_task: str) -> None:
        """Note the mission's sentence, and the skill's own id of the active task."""
        self._mission, self._sim_task = text, skill_task
        if self._open is not None:
            self._open.notes.mission = text or self._open.notes.mission
            self._open.notes.sim_task = skill_task or self._open.notes.sim_task

    def reading(self, goal_id: str, succeeded: bool, abstained: bool) -> None:
        """Process a reading of the reward monitor for a goal."""
        notes = self.notes
        if notes is not None and (notes.skill is None or notes.skill.goal_id == goal_id):
            notes.reading(succeeded, abstained)

    # -- orders, each of which returns whether it was done, and a message --------------------------

    def start(self) -> tuple[bool, str]:
        """Begin an episode that lasts until `stop`."""
        if not self.strategy.by_goal:
            return False, f"the strategy {self.strategy.name} records all the time; nothing is to be started"
        if self.stopped_by:
            return False, self.stopped_by
        if self._open is not None and self._open.notes.by_order:
            return False, "an episode is being recorded already; stop or discard it first"
        if self._open is not None:
            self._end()
        self._begin(None, by_order=True)
        return self._open is not None, "recording" if self._open is not None else self.stopped_by

    def stop(self) -> tuple[bool, str]:
        """End the episode and keep it."""
        if self._open is None or not self.strategy.by_goal:
            return False, "no episode is being recorded that could be stopped"
        self._end()
        return True, "the episode is kept"

    def cut_off(self) -> None:
        """End the episode, if there is one, and keep it as truncated."""
        if self._open is not None:
            self._end(early=True)

    def discard(self) -> tuple[bool, str]:
        """End and delete the segment that is being recorded."""
        if self._open is None:
            return False, "nothing is being recorded"
        self._end(keep=False)
        return True, "thrown away"

    def highlight(self) -> tuple[bool, str]:
        """Keep the latest segments, up to `HIGHLIGHT_S`, as an episode, or as one of each world if it began anew."""
        if not self.strategy.on_highlight:
            return False, f"the strategy is {self.strategy.name}; start the deployment with record:=highlight"
        if self._open is not None:
            self._end()
        parts, self._past = list(self._past), deque()
        if not parts:
            return False, "nothing was recorded yet"
        for _, world in groupby(parts, lambda part: part[1].world):
            self._keep_highlight(list(world))
        return True, f"the last {len(parts) * HIGHLIGHT_PART_S:.0f} s are kept"

    def _keep_highlight(self, parts: Sequence[tuple[Path, EpisodeNotes]]) -> None:
        """Keep consecutive segments as one episode."""
        notes = next((n for _, n in reversed(parts) if n.sentence), parts[-1][1])
        framed = [part for _, part in parts if part.begin_s >= 0.0]  # the newest has no frame yet, perhaps
        if framed:
            notes.begin_s, notes.end_s = framed[0].begin_s, framed[-1].end_s
        for verdict in ("operator", "reward_model"):  # the newest one in any part
            said = [getattr(part, verdict) for _, part in parts]
            setattr(notes, verdict, next((one for one in reversed(said) if one != UNKNOWN), UNKNOWN))
        self._last = notes
        self._finisher.finish([path for path, _ in parts], notes.about(), lambda: notes.operator)

    def mark(self, outcome: str) -> tuple[bool, str]:
        """Set the operator's verdict on the present episode, or else on the last one."""
        notes = self.notes or self._last
        if notes is None:
            return False, "no episode was recorded yet"
        notes.operator = outcome
        if self.notes is None:
            self._finisher.mark(notes.recording_id, outcome)
        return True, f"marked {outcome}"

    def tick(self) -> None:
        """Flush, check the free space, and begin or end segments by the strategy; call it several times a second."""
        now = time.monotonic()
        if now - self._looked_s >= 1.0:
            self._looked_s = now
            self._look_at_the_disk()
        opened = self._open
        if opened is None:
            if self.strategy.rolls_s and not self.stopped_by:
                self._begin(None, by_order=False)
            return
        if now - self._flushed_s >= FLUSH_S:
            self._flushed_s = now
            self._try(lambda: self._flush(opened))
        if self.strategy.rolls_s and now - opened.notes.began_s >= self.strategy.rolls_s:
            self._end()

    def close(self) -> None:
        """End the segment, keep it unless the strategy is `highlight`, and wait until all episodes are finished.

        An episode that nothing had ended is kept as truncated.
        """
        if self._open is not None:
            self._end(keep=not self.strategy.on_highlight, early=True)
        self._finisher.discard([path for path, _ in self._past])
        self._encoder.close()
        self._finisher.close()
        self._lock.release()

    # -- segments ----------------------------------------------------------------------------------

    def _begin(self, skill: SkillNote | None, *, by_order: bool) -> None:
        if self.stopped_by:
            return
        self._count += 1
        path = self.folder.segments / f"{time.time_ns():020d}-{self._count:04d}"
        notes = EpisodeNotes(
            self.strategy.name,
            self.columns.scene,
            by_order,
            skill,
            self._sentence,
            self._sim_task,
            self._mission,
            tasks=self._tasks,
            world=self._world,
        )
        self.assembler.restart()
        self.assembler.losses = RecordingLosses()
        try:
            writer = SegmentWriter(path, self.columns, self._encoder)
            bag = EpisodeBag(path / BAG_NAME, self._profiles)
            for message in self._latched.values():
                bag.write(message.topic, message.type_name, message.data, self._received_ns)
        except (OpenralError, OSError) as error:
            self.fail(error)
            return
        self._open = _Open(writer, bag, notes, {})

    def _write(self, frames: list[RecordedFrame]) -> None:
        opened = self._open
        if opened is None or not frames:
            return
        if opened.notes.begin_s < 0:
            opened.notes.begin_s, opened.notes.begin_ns = frames[0].stamp_s, self._received_ns
        opened.interventions += sum(frame.intervention for frame in frames)
        for frame in frames:
            if self._open is opened:
                self._try(partial(opened.writer.add, frame))
            if self._from_bags:
                opened.notes.recorded(frame)

    def _flush(self, opened: _Open) -> None:
        opened.writer.flush()
        opened.bag.flush()
        about = opened.notes.about()
        if about != opened.described:
            opened.writer.describe(about)
            opened.described = about

    def _end(self, *, keep: bool = True, early: bool = False) -> None:
        """Close the segment, and pass it to the finisher by the strategy.

        Args:
            keep: whether the strategy decides; else it is deleted.
            early: whether the episode goes on, unless it is one that ends by the clock.
        """
        self._write(self.assembler.finish())
        opened, self._open = self._open, None
        if opened is None:
            return
        self.repeated_images += self.assembler.losses.repeated_images
        self.missing_steps += self.assembler.losses.missing_steps
        notes, path = opened.notes, opened.writer.folder
        notes.truncated = early and self.strategy.by_goal
        if self._from_bags:
            notes.name_by_content()
        if not self._close(opened):
            return
        if not keep or (self.strategy.corrected_only and not opened.interventions):
            self._finisher.discard([path])
        elif self.strategy.on_highlight:
            self._past.append((path, notes))
            while len(self._past) > HIGHLIGHT_S / HIGHLIGHT_PART_S:
                self._finisher.discard([self._past.popleft()[0]])
        else:
            self._last = notes
            losses = self.assembler.losses
            self._finisher.finish([path], {**notes.about(), **asdict(losses)}, lambda: notes.operator)

    def _close(self, opened: _Open) -> bool:
        """Close the files of a segment; return False if that failed and they remain for a repair."""
        whole = True
        steps: list[Callable[[], None]] = [
            partial(self._flush, opened),
            opened.writer.close,
            opened.bag.close,
        ]
        for close in steps:
            try:
                close()
            except (OpenralError, OSError, ValueError) as error:
                whole = False
                self.stopped_by = self.stopped_by or write_fault(error, self.folder.root)
        if not whole:
            self._say(
                f"a segment could not be closed and stays for `openral data repair`: {self.stopped_by}", True
            )
        return whole

    # -- the disk ----------------------------------------------------------------------------------

    def _try(self, work: Callable[[], None]) -> None:
        """Call a function that writes; an error ends the recording only."""
        try:
            work()
        except (OpenralError, OSError) as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Stop recording because of an error; the segment remains for a repair."""
        self.stopped_by = f"{RECORDING_STOPPED}{write_fault(error, self.folder.root)}"
        self._retry_s = time.monotonic() + RETRY_S
        self._say(self.stopped_by, True)
        opened, self._open = self._open, None
        if opened is not None:
            self._encoder.close()
            self._close(opened)

    def _look_at_the_disk(self) -> None:
        if not self.folder.root.is_dir():
            if not self.stopped_by:
                self.fail(OutputError(f"{self.folder.root} is gone; make the folder again, the arm goes on"))
            return
        free = self.free_bytes
        if free < self._floor and not self.stopped_by:
            self.stopped_by = (
                f"{RECORDING_STOPPED}{free / GIGABYTE:.1f} GB are free in {self.folder.root}, the floor is "
                f"{self._floor / GIGABYTE:.1f} GB; free some space, the arm goes on"
            )
            self._say(self.stopped_by, True)
            self.cut_off()
        elif self.stopped_by and free > COMES_BACK * self._floor and time.monotonic() > self._retry_s:
            self._say("recording can go on: there is space again", False)
            self.stopped_by = ""
