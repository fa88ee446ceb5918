"""A DAgger run: demonstrations, a first policy, and rounds of corrections, each followed by training and evaluation.

The policy of a round begins with the weights of the last one and is trained on everything that was recorded so far
(dataset aggregation, Ross et al. 2011, arXiv 1011.0686). Only steps that the operator commanded are used, as in
HG-DAgger (Kelly et al. 2019, arXiv 1810.02890).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from openral_benchmark.execute import execute
from openral_benchmark.execution_config import ExecutionConfig
from openral_benchmark.plan import Settings, chosen_scenes, simulator_task
from openral_benchmark.record_in_manifest import record_result
from openral_benchmark.row_log import RunLock
from openral_core.errors import ContractError
from openral_core.scene import BenchmarkScene, load_scene
from openral_core.suite import Suite, load_suite
from openral_data.lerobot_v3 import Dataset
from openral_rskill.registry import resolve
from openral_rskill.result_provenance import commit
from openral_training import bc
from openral_training.dagger.collection import CorrectionWorld, summary
from openral_training.dagger.config import DaggerConfig
from openral_training.dagger.run_folder import RunFolder
from openral_training.dagger.trained_states import with_trained_states
from openral_training.training_recipe import MOST_LISTED, drawn_states

WORLDS = 8
"""Simulators whose observations make one batch while a policy is evaluated."""


class DaggerRun:
    """One run in one folder."""

    def __init__(
        self,
        config: DaggerConfig,
        folder: Path,
        *,
        seed: int,
        plain: bool,
        command: str,
        resume: bool = False,
        threads: int = 1,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Check the settings, and claim the folder.

        Args:
            config: see `DaggerConfig`.
            folder: of the run.
            seed: of the initial states and of cloning.
            plain: whether as many demonstrations are recorded in place of corrections, for comparison.
            command: the command line, for the record.
            resume: whether the run in the folder is resumed; else the folder must hold none.
            threads: of torch, and processes of the evaluation.
            say: called with a line at each stage.

        Raises:
            ManifestError: there is a run in the folder and `resume` is False, or there is none and it is True.
            ContractError: the run in the folder has other settings.
            OpenralError: scene, suite or task do not exist, or the suite has too few states for training.
        """
        self._config, self._files, self._seed, self._plain = config, RunFolder(folder), seed, plain
        self._command, self._threads, self._say = command, threads, say
        self._suite: Suite = load_suite(config.suite)
        (self._judged,) = chosen_scenes(self._suite, [config.task])
        if self._suite.train_init_ids is None:
            raise ContractError(f"{self._suite.id}: leaves no train_init_ids; name a suite that does")
        rng, states = np.random.default_rng(seed), self._suite.train_init_ids.ids()
        self._states = drawn_states(states, MOST_LISTED, rng)
        self._require_states(config.demonstrations, self._states, "demonstrations")
        self._recipe = with_trained_states(config.skill, self._judged, self._suite.train_init_ids)
        # A run may be resumed for more rounds than it was begun with.
        fixed = config.model_dump(mode="json", exclude={"rounds", "enough"})
        settings = {"config": fixed, **self._kind()}
        self._files.claim(settings, resume=resume)
        self._rounds = self._files.rounds()

    def go(self) -> dict[str, Any]:
        """Run the rounds that are left, and return the content of `result.json`.

        Raises:
            ManifestError: another process runs in the folder.
        """
        lock = RunLock(self._files.root)
        try:
            if self._goes_on():
                with closing(self._world()) as world:
                    while self._goes_on():
                        number = len(self._rounds)
                        self._learn(number, self._files.collected(number) or self._collect(world, number))
            return self._result()
        finally:
            lock.release()

    def _world(self) -> CorrectionWorld:
        """Open the world of the attempts. Raises as `CorrectionWorld`; nothing is left of a run that never began."""
        try:
            return CorrectionWorld(
                load_scene(self._config.scene),
                self._config.scene,
                simulator_task(self._judged),
                self._judged.task.instruction,
                int(self._judged.task.max_steps or 0),
            )
        except BaseException:
            self._files.give_up()
            raise

    def _goes_on(self) -> bool:
        """Return whether another round is to be run."""
        if not self._rounds:
            return True
        solved = self._rounds[-1]["all_episodes"]["success_rate"]
        return len(self._rounds) <= self._config.rounds and solved < self._config.enough

    def _kind(self) -> dict[str, Any]:
        return {"seed": self._seed, "help": "demonstrations" if self._plain else "corrections"}

    def _collect(self, world: CorrectionWorld, number: int) -> dict[str, Any]:
        """Let the operator demonstrate, or correct the newest policy, in initial states that were not used yet."""
        config, recording = self._config, self._files.fresh_recording(number)
        states = self._states[sum(finished["attempts"] for finished in self._rounds) :]
        if number and not self._plain:
            self._require_states(1, states, f"corrections in round {number}")
            package = resolve(str(self._files.skill(number - 1).resolve()))
            rows = world.correct(recording, package, states[: config.most_attempts], config.interventions)
        else:
            count = config.interventions if number else config.demonstrations
            self._require_states(count, states, f"demonstrations in round {number}")
            rows = world.demonstrate(recording, states[:count])
        collected = summary(rows)
        self._files.note_collected(number, collected)
        return collected

    def _require_states(self, count: int, left: Sequence[int], what: str) -> None:
        """Check that there are states for `count` more attempts, each of which begins in one of its own."""
        if len(left) < count:
            raise ContractError(
                f"{self._suite.id}: train_init_ids has {len(self._states)} states, {len(left)} of which are left for "
                f"{count} {what}; lower demonstrations, most_attempts or rounds, or widen train_init_ids"
            )

    def _learn(self, number: int, collected: dict[str, Any]) -> None:
        """Train on all recordings, evaluate the policy, and write the round's result."""
        dataset = self._files.dataset(number)
        self._say(f"round {number}: {_told(collected)}; cloning {len(dataset.episodes['length'])} episodes")
        if not self._files.is_cloned(number):
            self._clone(number, dataset)
        judged = self._judge(self._files.skill(number))
        self._rounds.append(
            {
                "round": number,
                **collected,
                "episodes": len(dataset.episodes["length"]),
                "frames_by_hand": _by_hand(dataset),
                "all_episodes": judged["results"]["all_episodes"],
                "provenance": judged["provenance"],
            }
        )
        self._result()
        self._say(f"round {number}: {_line(judged['results']['all_episodes'])} of unseen states")

    def _clone(self, number: int, dataset: Dataset) -> None:
        """Train a round's skill, beginning with the last one."""
        cloning = self._config.cloning
        settings = bc.BcConfig(
            steps=cloning.round_steps if number else cloning.steps,
            batch_size=cloning.batch_size,
            learning_rate=cloning.learning_rate,
            warmup_steps=min(50, cloning.steps // 4),
            seed=self._seed,
            threads=self._threads,
        )
        before = self._files.skill(number - 1) if number else None
        bc.train(dataset, self._recipe, self._files.skill(number), settings, warm_start=before)

    def _judge(self, folder: Path) -> dict[str, Any]:
        """Evaluate a round's skill once on each held-out state; its `eval/` keeps every episode."""
        scenes: Sequence[BenchmarkScene] = [self._judged]
        package = resolve(str(folder.resolve()))
        count = self._judged.n_episodes
        content = execute(
            self._suite,
            package,
            scenes,
            Settings(count, min(WORLDS, count)),
            folder / "benchmark",
            execution=ExecutionConfig(self._threads),
            resume=True,
            command=self._command,
        )
        record_result(package, content)
        return content

    def _result(self) -> dict[str, Any]:
        """Write `result.json` with the rounds so far, and return its content."""
        result = {
            "config": json.loads(self._config.model_dump_json(exclude={"skill"})),
            **self._kind(),
            "commit": commit() or "unknown",
            "command": self._command,
            "rounds": self._rounds,
        }
        self._files.note_result(result)
        return result


def _by_hand(dataset: Dataset) -> int:
    """Return the number of frames in which the operator commanded."""
    return int(dataset.columns(["intervention"])["intervention"].sum())


def _told(collected: dict[str, Any]) -> str:
    return "{attempts} attempts, {solved_alone} solved alone, {interventions} by the operator".format(
        **collected
    )


def _line(entry: dict[str, Any]) -> str:
    low, high = entry["wilson_95"]
    return f"{entry['successes']}/{entry['n_episodes']} ({low:.2f}–{high:.2f})"
