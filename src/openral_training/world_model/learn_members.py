"""The second stage: trains the dynamics and the success heads of all members; then sets the limit of uncertainty."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, smooth_l1_loss

from openral_core.sentence_encoder import SentenceEncoder
from openral_training.bc import BcConfig, schedule
from openral_training.checkpoint import restore_run, save_run
from openral_training.world_model.experience import Rollouts, Windows, windows
from openral_training.world_model.learning import LearnConfig, Progress, descend
from openral_training.world_model.network import Member, WorldNetwork, WorldShape
from openral_training.world_model.statistics import ActionScale


def learn_members(
    network: WorldNetwork,
    latents: Tensor,
    rollouts: Rollouts,
    episodes: NDArray[np.int64],
    scale: ActionScale,
    config: LearnConfig,
    state: Path,
    run: str,
    progress: Progress,
) -> None:
    """Train the dynamics and the success head of each member; the arguments are those of `learn_drawing`."""
    words = torch.from_numpy(SentenceEncoder().encode(list(rollouts.words.values())))
    members, steps = network.members, changes(latents, rollouts, episodes)
    seen = latents[torch.from_numpy(rollouts.rows(episodes))]
    for member in network.each():
        member.scale(seen, steps, words)
    optimiser = torch.optim.AdamW(members.parameters(), lr=config.learning_rate)
    pace = BcConfig(steps=config.steps, warmup_steps=config.steps // 20)
    for step in range(restore_run(state, members, optimiser, run), config.steps):
        motion, verdict = torch.zeros(()), torch.zeros(())
        for number, member in enumerate(network.each()):
            rng = np.random.default_rng([config.seed, 1, step, number])
            cut = _pieces(network.shape, rollouts, episodes, scale, config.batch_size, rng)
            own = losses(member, network.shape, latents, rollouts, cut, words, config, rng)
            motion, verdict = motion + own[0], verdict + own[1]
        descend(members, optimiser, motion + verdict, config.learning_rate * schedule(step, pace))
        means = [loss.item() / len(members) for loss in (motion, verdict)]
        progress(config.picture_steps + step + 1, f"motion {means[0]:.3f}, verdict {means[1]:.3f}")
        if (step + 1) % config.save_every == 0 or step + 1 == config.steps:
            save_run(state, members, optimiser, step + 1, run)


def _pieces(
    shape: WorldShape,
    rollouts: Rollouts,
    episodes: NDArray[np.int64],
    scale: ActionScale,
    count: int,
    rng: np.random.Generator,
) -> Windows:
    """Cut `count` random windows out of episodes; their last condition frame is any frame but an episode's last one."""
    chosen = rng.choice(episodes, count)
    present = rng.integers((rollouts.last - rollouts.first)[chosen])
    return windows(rollouts, scale, chosen, present, shape.condition_frames, shape.chunk)


@torch.no_grad()
def uncertainty_limit(
    network: WorldNetwork,
    latents: Tensor,
    rollouts: Rollouts,
    episodes: NDArray[np.int64],
    scale: ActionScale,
    config: LearnConfig,
    count: int = 4000,
) -> float:
    """Return the quantile `LearnConfig.doubt_quantile` of the uncertainty, over `count` random windows of the data.

    Of data that has fewer windows, each is taken once.
    """
    shape = network.shape
    lengths = (rollouts.last - rollouts.first)[episodes]
    if lengths.sum() > count:
        cut = _pieces(shape, rollouts, episodes, scale, count, np.random.default_rng([config.seed, 2]))
    else:
        every = np.repeat(episodes, lengths), np.concatenate([np.arange(length) for length in lengths])
        cut = windows(rollouts, scale, *every, shape.condition_frames, shape.chunk)
    before = latents[torch.from_numpy(cut.rows[:, : shape.condition_frames])]
    predictions = network.predict(before, torch.from_numpy(cut.past_actions), torch.from_numpy(cut.actions))
    most = network.uncertainty(predictions).masked_fill(~torch.from_numpy(cut.known), 0.0).amax(1)
    return max(float(most.quantile(config.doubt_quantile)), 1e-6)


def losses(
    member: Member,
    shape: WorldShape,
    latents: Tensor,
    rollouts: Rollouts,
    cut: Windows,
    words: Tensor,
    config: LearnConfig,
    rng: np.random.Generator,
) -> tuple[Tensor, Tensor]:
    """Return the losses of the dynamics and of the success head.

    The former is a smooth L1 error in units of the standard deviation of one step's change. The latter is the
    cross-entropy of success, for recorded and for predicted latents.

    Args:
        member: that is trained.
        shape: of the member.
        latents: (N, L) of all frames.
        rollouts: has the labels of success.
        cut: windows of episodes.
        words: (K, 384) embeddings of the tasks' sentences.
        config: weights of the losses, and the noise.
        rng: draws the noise, and the task of each window whose success is predicted.
    """
    dynamics = member.dynamics
    real = latents[torch.from_numpy(cut.rows)]
    blur = torch.from_numpy(rng.standard_normal(real[:, : shape.condition_frames].shape).astype(np.float32))
    before = real[:, : shape.condition_frames] + config.noise * dynamics.step * blur
    predicted: Tensor = dynamics(before, torch.from_numpy(cut.past_actions), torch.from_numpy(cut.actions))
    known = torch.from_numpy(cut.known).float()[..., None]
    moves = dynamics.step > 0
    weights = torch.full_like(dynamics.step, 1.0)
    weights[: shape.latent] = config.picture_weight
    weights = torch.where(moves, weights, 0.0)
    unit = torch.where(moves, dynamics.step, 1.0)
    off = smooth_l1_loss(predicted / unit, real[:, shape.condition_frames :] / unit, reduction="none")
    motion = (off * weights * known).sum() / (known.sum() * weights.sum())
    tasks = rng.integers(len(words), size=len(real))
    truth = torch.from_numpy(rollouts.success[cut.rows, tasks[:, None]][:, shape.condition_frames :]).float()
    both = torch.cat([real, torch.cat([real[:, : shape.condition_frames], predicted.detach()], 1)])
    logits = member.success_logits(both[:, 1:], words[torch.from_numpy(np.tile(tasks, 2))])
    verdict = binary_cross_entropy_with_logits(logits, truth.repeat(2, 1), known[..., 0].repeat(2, 1))
    return motion, verdict


def changes(latents: Tensor, rollouts: Rollouts, episodes: NDArray[np.int64]) -> Tensor:
    """Return (C, L) the differences of consecutive latents (N, L) within episodes, given by their indices (E,)."""
    before = torch.from_numpy(rollouts.rows(episodes, executed=True))
    return latents[before + 1] - latents[before]
