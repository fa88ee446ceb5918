"""A whole run: demonstrations, a first policy, and rounds of help after each of which it is cloned anew and judged.

The policy of a round begins with the weights of the one before and learns from everything that was recorded so far
(dataset aggregation, Ross et al. 2011, arXiv 1011.0686). Only steps that the operator commanded are learnt from, as in
HG-DAgger (Kelly et al. 2019, arXiv 1810.02890).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from openral_benchmark.execute import execute
from openral_benchmark.execution import ExecutionConfig
from openral_benchmark.manifest_record import record_result
from openral_benchmark.plan import Settings, chosen_scenes, simulator_task
from openral_core.errors import ContractError, ManifestError
from openral_core.scene import BenchmarkScene, load_scene
from openral_core.suite import Suite, load_suite
from openral_data.lerobot_v3 import Dataset, open_dataset
from openral_data.recording_folder import RecordingFolder
from openral_rskill.provenance import commit
from openral_rskill.registry import resolve
from openral_training import bc
from openral_training.dagger.collection import CorrectionWorld, summary
from openral_training.dagger.config import DaggerConfig

RECORDING, RESULT = "recording", "result.json"
WORLDS = 8
"""Worlds under one batch while a policy is judged."""


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
        threads: int = 1,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Check what it needs.

        Args:
            config: see `DaggerConfig`.
            folder: of the run, empty or not there.
            seed: of the initial states and of cloning.
            plain: demonstrations in place of corrections, as many, for comparison.
            command: the command line, for the record.
            threads: of torch, and processes that judge.
            say: is told a line at each step.

        Raises:
            ManifestError: there is a run in the folder.
            OpenralError: scene, suite or task are not there, or the suite leaves no states to training.
        """
        if (folder / RECORDING).exists():
            raise ManifestError(f"{folder}: there is a run already; name another --out")
        self._config, self._folder, self._seed, self._plain = config, folder, seed, plain
        self._command, self._threads, self._say = command, threads, say
        self._suite: Suite = load_suite(config.suite)
        (self._judged,) = chosen_scenes(self._suite, [config.task])
        if self._suite.train_init_ids is None:
            raise ContractError(f"{self._suite.id}: leaves no train_init_ids; name a suite that does")
        order = np.random.default_rng(seed).permutation(self._suite.train_init_ids.ids())
        self._states = iter(order.tolist())
        self._rounds: list[dict[str, Any]] = []

    def go(self) -> dict[str, Any]:
        """Run it, and return what `result.json` says."""
        config = self._config
        world = CorrectionWorld(
            load_scene(config.scene),
            config.scene,
            simulator_task(self._judged),
            self._judged.task.instruction,
            int(self._judged.task.max_steps or 0),
        )
        with closing(world):
            shown = world.demonstrate(self._recording.root, islice(self._states, config.demonstrations))
            self._learn(0, summary(shown))
            for number in range(1, config.rounds + 1):
                self._learn(number, self._help(world, number))
        return self._result()

    @property
    def _recording(self) -> RecordingFolder:
        return RecordingFolder(self._folder / RECORDING)

    def _skill(self, number: int) -> Path:
        return self._folder / f"round-{number}"

    def _help(self, world: CorrectionWorld, number: int) -> dict[str, Any]:
        """Let the newest policy be corrected, or demonstrate as often."""
        config = self._config
        if self._plain:
            return summary(
                world.demonstrate(self._recording.root, islice(self._states, config.interventions))
            )
        package = resolve(str(self._skill(number - 1).resolve()))
        tried = world.correct(
            self._recording.root, package, islice(self._states, config.most_attempts), config.interventions
        )
        return summary(tried)

    def _learn(self, number: int, collected: dict[str, Any]) -> None:
        """Clone all that was recorded, judge the result, and note the round."""
        cloning, folder = self._config.cloning, self._skill(number)
        dataset = open_dataset(self._recording.dataset)
        self._say(f"round {number}: {_told(collected)}; cloning {len(dataset.episodes['length'])} episodes")
        settings = bc.BcConfig(
            steps=cloning.round_steps if number else cloning.steps,
            batch_size=cloning.batch_size,
            learning_rate=cloning.learning_rate,
            warmup_steps=min(50, cloning.steps // 4),
            seed=self._seed,
            threads=self._threads,
        )
        before = self._skill(number - 1) if number else None
        bc.train(dataset, self._config.skill, folder, settings, warm_start=before)
        judged = self._judge(folder)
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

    def _judge(self, folder: Path) -> dict[str, Any]:
        """Try a round's skill on the states that the suite holds out, each once; its `eval/` keeps every episode."""
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
        """Write what is known so far, and return it."""
        result = {
            "config": json.loads(self._config.model_dump_json(exclude={"skill"})),
            "seed": self._seed,
            "help": "demonstrations" if self._plain else "corrections",
            "commit": commit() or "unknown",
            "command": self._command,
            "rounds": self._rounds,
        }
        text = json.dumps(result, indent=1) + "\n"
        (self._folder / RESULT).write_text(text, encoding="utf-8")
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
