"""Compares a world model with the simulator that it was trained on: the same actions from the same first frame.

The actions are those of recorded attempts from initial states that training never saw. After the first frame the model
gets no data of the simulator, so errors accumulate as in the training of a policy.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import spearmanr

from openral_core.errors import ContractError
from openral_core.statistics import auroc
from openral_data.lerobot_v3 import Dataset
from openral_training.frames import frame_cache
from openral_training.world_model.checkpoint import trained_init_ids
from openral_training.world_model.env import THRESHOLD
from openral_training.world_model.experience import Rollouts, load_rollouts
from openral_training.world_model.model import FRAME, WorldModel, resize
from openral_training.world_model.nearest_baseline import RecordedAttempts
from openral_training.world_model.open import open_world_model
from openral_training.world_model.statistics import ActionScale
from openral_training.world_model.video_similarity import psnr, ssim

HORIZONS = (1, 8, 16, 32, 64, 120)
"""Control steps after the start at which errors are reported."""
RESULT, VIDEO = "result.json", "imagined.gif"
FPS, COLOURS = 20, 48
EVERY = 4
"""Control steps between two frames of the video."""


@dataclass(frozen=True)
class WorldComparison:
    """One attempt in both worlds: T steps after the first frame."""

    task: str
    instruction: str
    init_id: int
    start: NDArray[np.uint8]
    """(P, P, 3) the first frame of both."""
    real: NDArray[np.uint8]
    """(T, P, P, 3) the recorded frames."""
    imagined: NDArray[np.uint8]
    """(T, P, P, 3) the model's frames."""
    nearest: NDArray[np.uint8] | None
    """(T, P, P, 3) frames of the most similar recorded attempt, see `nearest_baseline.RecordedAttempts`; None: there is
    none."""
    real_state: NDArray[np.float32]
    """(T, S) the recorded states."""
    imagined_state: NDArray[np.float32]
    """(T, S) the model's states."""
    latent_error: NDArray[np.float64]
    """(T,) root mean square difference of latents, in units of the latents' standard deviation over the attempt."""
    truth: NDArray[np.bool_]
    """(T,) whether the task is solved in the simulator."""
    likelihood: NDArray[np.float32]
    """(T,) probability of success that the model predicts from its own frames."""
    likelihood_real: NDArray[np.float32]
    """(T,) probability of success that it predicts from the simulator's frames."""
    uncertainty: NDArray[np.float32]
    """(T,) see `model.Prediction`."""


def evaluate(
    folder: Path,
    dataset: Dataset,
    out: Path,
    *,
    episodes: int | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> dict[str, Any]:
    """Compare on held-out attempts, and write `result.json` and `imagined.gif`.

    Args:
        folder: of the world model.
        dataset: rollouts, those of the training or others; without any from states of the training there is nothing
            that the nearest attempt could be among, and its figures are left out.
        out: folder of the result.
        episodes: most held-out attempts; None: all.
        progress: called with the number of attempts that are done and the number of all.

    Raises:
        ContractError: no episode is held out, or model and rollouts do not fit.
    """
    model, starts, scale = open_world_model(folder)
    rollouts = load_rollouts(dataset)
    trained = trained_init_ids(folder, starts, rollouts.init_id)
    unseen = np.array([init_id not in trained for init_id in rollouts.init_id])
    chosen = np.flatnonzero(unseen)[:episodes]
    if not len(chosen):
        raise ContractError(f"{dataset.root}: no initial state is held out; record more of them")
    size = int(dataset.info["features"][dataset.cameras[0]]["shape"][0])
    frames = frame_cache(dataset, dataset.cameras[0], size)
    recorded = None if unseen.all() else RecordedAttempts(rollouts, scale, np.flatnonzero(~unseen))
    compared = []
    for number, episode in enumerate(chosen):
        compared.append(compare(model, scale, rollouts, recorded, frames, int(episode)))
        progress(number + 1, len(chosen))
    result = {
        "episodes": len(compared),
        "horizons": by_horizon(compared),
        "reward": reward_measures(compared),
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / RESULT).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    write_video(out / VIDEO, compared)
    return result


@torch.no_grad()
def compare(
    model: WorldModel,
    scale: ActionScale,
    rollouts: Rollouts,
    recorded: RecordedAttempts | None,
    frames: NDArray[np.uint8],
    episode: int,
) -> WorldComparison:
    """Predict an attempt from its first frame and its actions."""
    first, last = int(rollouts.first[episode]), int(rollouts.last[episode])
    steps, chunk, past = last - first, model.chunk, model.condition_frames
    rows = np.arange(first, last + 1)
    real = model.begin(np.asarray(frames[rows]), rollouts.state[rows])
    padding = real[:1].repeat_interleave(past, 0)
    before, past_actions = padding[None], np.zeros((1, past, model.action_dim), np.float32)
    actions = np.zeros((-(-steps // chunk) * chunk, model.action_dim), np.float32)
    actions[:steps] = scale.normalised(rollouts.action[first:last])
    words = [rollouts.words[rollouts.task[episode]]]
    parts, likelihoods, uncertainties = [], [], []
    for number in range(0, len(actions), chunk):
        piece = actions[None, number : number + chunk]
        prediction = model.imagine(before, past_actions, piece, [number])
        seen = torch.cat([before, prediction.latents], 1)
        likelihoods.append(model.success(seen, words)[0])
        parts.append(prediction.latents)
        uncertainties.append(prediction.uncertainty[0])
        before, past_actions = seen[:, -past:], np.concatenate([past_actions, piece], 1)[:, -past:]
    predicted = torch.cat(parts, 1)[:, :steps]
    after_start = torch.cat([padding, real[1:], real[-1:].repeat_interleave(len(actions) - steps, 0)])
    true = np.concatenate(
        [
            model.success(after_start[None, number : number + past + chunk], words)[0]
            for number in range(0, len(actions), chunk)
        ]
    )
    error = (predicted[0] - real[1:]).flatten(1) / real.flatten(1).std(0).clamp_min(1e-3)
    column = list(rollouts.words).index(rollouts.task[episode])
    start = np.asarray(frames[first])
    # Frames are compared at the recorded size, since enlarging and shrinking would blur them.
    imagined = model.frames(predicted, start[None], rollouts.state[first : first + 1], frames.shape[1])[0]
    return WorldComparison(
        rollouts.task[episode],
        words[0],
        rollouts.init_id[episode],
        start,
        np.asarray(frames[rows[1:]]),
        imagined,
        None if recorded is None else np.asarray(frames[recorded.rows(episode, steps)]),
        rollouts.state[rows[1:]],
        model.states(predicted)[0],
        error.square().mean(1).sqrt().double().numpy(),
        rollouts.success[rows[1:], column],
        np.concatenate(likelihoods)[:steps],
        true[:steps],
        np.concatenate(uncertainties)[:steps],
    )


def by_horizon(compared: Sequence[WorldComparison]) -> list[dict[str, float]]:
    """Return mean errors by control steps after the start, over the attempts that last so long.

    `given_up` is the share of these attempts that would have been aborted by then, see `env.ImaginedChunk.aborted`.
    """
    rows = []
    for step in HORIZONS:
        long = [c for c in compared if len(c.real) >= step]
        if not long:
            continue
        at = step - 1
        row = {
            "step": step,
            "episodes": len(long),
            "psnr_db": np.mean([psnr(c.imagined[at], c.real[at]) for c in long]),
            "ssim": np.mean([ssim(c.imagined[at], c.real[at]) for c in long]),
            "psnr_still_db": np.mean([psnr(c.start, c.real[at]) for c in long]),
            **_nearest(long, at),
            "latent_rmse": np.mean([c.latent_error[at] for c in long]),
            "given_up": np.mean([(c.uncertainty[:step] > 1).any() for c in long]),
        }
        if long[0].real_state.shape[1]:
            off = [np.linalg.norm(c.imagined_state[at, :3] - c.real_state[at, :3]) for c in long]
            moved = [np.linalg.norm(c.imagined_state[at, 4:7] - c.real_state[at, 4:7]) for c in long]
            row |= {"hand_error_m": np.mean(off), "object_error_m": np.mean(moved)}
        rows.append({name: round(float(value), 5) for name, value in row.items()})
    return rows


def _nearest(compared: Sequence[WorldComparison], at: int) -> dict[str, np.floating[Any]]:
    found = [psnr(c.nearest[at], c.real[at]) for c in compared if c.nearest is not None]
    return {"psnr_nearest_db": np.mean(found)} if found else {}


def reward_measures(compared: Sequence[WorldComparison]) -> dict[str, float | None]:
    """Return measures of the predicted success, by frame and by attempt; None where there is only one class.

    `doubt_error_rank` is Spearman's correlation of the uncertainty with the error of the latents, over all frames.
    """
    truth = np.concatenate([c.truth for c in compared])
    own, real = (np.concatenate([getattr(c, n) for c in compared]) for n in ("likelihood", "likelihood_real"))
    solved = np.array([bool(c.truth.any()) for c in compared])
    most = np.array([c.likelihood.max() for c in compared])
    uncertainty, off = (
        np.concatenate([getattr(c, n) for c in compared]) for n in ("uncertainty", "latent_error")
    )
    varies = len(uncertainty) > 1 and uncertainty.min() < uncertainty.max()
    return {
        "auroc_frames_real": _auroc(real, truth),
        "auroc_frames_imagined": _auroc(own, truth),
        "auroc_episodes_imagined": _auroc(most, solved),
        "solved_real": round(float(solved.mean()), 4),
        "solved_imagined": round(float((most >= THRESHOLD).mean()), 4),
        "doubt_error_rank": round(float(spearmanr(uncertainty, off).statistic), 4) if varies else None,
    }


def _auroc(scores: NDArray[np.floating[Any]], truth: NDArray[np.bool_]) -> float | None:
    if truth.all() or not truth.any():
        return None
    return round(auroc(scores[truth].tolist(), scores[~truth].tolist()), 4)


def write_video(path: Path, compared: Sequence[WorldComparison]) -> None:
    """Write a GIF of the first solved and the first unsolved attempt: the simulator left, the model right.

    Its palette is computed from about four of its frames.
    """
    from PIL import Image

    chosen = [next((c for c in compared if bool(c.truth.any()) is wanted), None) for wanted in (True, False)]
    images = [Image.fromarray(frame) for c in chosen if c is not None for frame in _beside(c)]
    sample = images[:: max(1, len(images) // 4)]
    palette = Image.fromarray(np.concatenate([np.asarray(one) for one in sample]))
    colours = palette.quantize(COLOURS)
    reduced = [image.quantize(palette=colours, dither=Image.Dither.NONE) for image in images]
    reduced[0].save(path, save_all=True, append_images=reduced[1:], duration=1000 // FPS, loop=0)


def _beside(comparison: WorldComparison) -> Iterator[NDArray[np.uint8]]:
    for real, imagined in zip(comparison.real[::EVERY], comparison.imagined[::EVERY], strict=True):
        yield np.concatenate([resize(real, FRAME), resize(imagined, FRAME)], 1)
