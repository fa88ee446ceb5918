"""A small latent video model: an autoencoder of images, dynamics of latents under actions, and success from latents.

A latent is Z numbers that encode a picture, and the S numbers of the state, so that both are predicted together. An
ensemble of members is trained on different windows of the data. Where there were no data the members disagree, so their
disagreement measures the uncertainty of a prediction (Kidambi et al. 2020, arXiv:2005.05951).

Shapes: M members, B environments, T frames, F condition frames, H frames of a chunk, A numbers of an action.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from openral_core.sentence_encoder import EMBEDDING_DIM

DEPTHS = (24, 48, 64, 64)
"""Channels of the autoencoder's layers, each of half the resolution of the last one."""
UNCHANGED = -3.0
"""Initial bias of the mask's logit, by which most of a frame is taken from the first frame before training."""
STILL = 1e-4
"""Standard deviation of the change in a step below which a number of the state counts as constant."""


@dataclass(frozen=True)
class WorldShape:
    """Shape of the networks."""

    state_dim: int
    """S, the length of the state."""
    action_dim: int
    """A, the length of an action."""
    size: int = 64
    """[px] of the square images; a multiple of 16."""
    latent: int = 64
    """Z, numbers that encode an image."""
    condition_frames: int = 4
    """F, past frames that a prediction is conditioned on."""
    chunk: int = 8
    """H, actions of one prediction."""
    width: int = 96
    """Width of a token."""
    layers: int = 3
    heads: int = 4
    members: int = 3
    """M, members of the ensemble."""

    @property
    def latent_dim(self) -> int:
        """L = Z + S, the length of a latent."""
        return self.latent + self.state_dim


class Autoencoder(nn.Module):
    """A variational autoencoder (Kingma and Welling, arXiv:1312.6114) of the changes since an episode's first frame.

    The decoder takes two latents, those of the first and of the current frame. It returns an image and a mask; where
    the mask is 0 the pixels are those of the first frame (as in Vondrick et al. 2016, arXiv:1609.02612). So pixels
    that do not change stay sharp, and a latent near the first one is decoded to the first frame. The decoder also takes
    the change of the state, since a millimetre is less than the accuracy of the picture's latent.
    """

    step: Tensor

    def __init__(self, shape: WorldShape) -> None:
        super().__init__()
        self._grid, widths = shape.size // 2 ** len(DEPTHS), (3, *DEPTHS)
        self._latent = shape.latent
        self.register_buffer("step", torch.ones(shape.state_dim))
        layers: list[nn.Module] = []
        for before, after in itertools.pairwise(widths):
            layers += [nn.Conv2d(before, after, 4, 2, 1), nn.SiLU()]
        flat = DEPTHS[-1] * self._grid**2
        self.encoder = nn.Sequential(*layers, nn.Flatten(), nn.Linear(flat, 2 * shape.latent))
        self.start = nn.Linear(shape.latent + shape.latent_dim, flat)
        layers = []
        for before, after in itertools.pairwise((*DEPTHS[::-1], 4)):
            last = nn.ConvTranspose2d(before, after, 4, 2, 1)
            layers += [nn.SiLU(), last]
        assert last.bias is not None, "as torch makes it"
        nn.init.constant_(last.bias[3], UNCHANGED)
        self.decoder = nn.Sequential(*layers)

    def encode(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance (B, Z) of images (B, 3, P, P) in -1..1."""
        mean, log_variance = self.encoder(images).chunk(2, -1)
        return mean, log_variance.clamp(-12, 4)

    def decode(self, latents: Tensor, begun: Tensor, first: Tensor) -> Tensor:
        """Return images (B, 3, P, P), about -1..1.

        Args:
            latents: (B, L)
            begun: (B, L) of the first frames of the episodes.
            first: (B, 3, P, P) in -1..1, the first frames.
        """
        seen, changed = latents[:, : self._latent], latents - begun
        moved = torch.where(self.step > 0, changed[:, self._latent :] / self.step.clamp_min(STILL), 0.0)
        features = self.start(torch.cat([seen, changed[:, : self._latent], moved.asinh()], -1))
        drawn = self.decoder(features.unflatten(-1, (DEPTHS[-1], self._grid, self._grid)))
        picture, mask = drawn[:, :3], drawn[:, 3:].sigmoid()
        found: Tensor = first + mask * (picture - first)
        return found

    def scale(self, steps: Tensor) -> None:
        """Set the scale of the state's changes from data (C, S), the changes from frame to frame."""
        self.step.copy_(_spread(steps))


class Dynamics(nn.Module):
    """A causal transformer from F frames and the H actions after them to the changes from frame to frame.

    Changes are predicted in units of their standard deviation and summed; those of an untrained network are 0.
    """

    mean: Tensor
    std: Tensor
    step: Tensor

    def __init__(self, shape: WorldShape) -> None:
        super().__init__()
        self._frames = shape.condition_frames
        for name, value in (("mean", 0.0), ("std", 1.0), ("step", 1.0)):
            self.register_buffer(name, torch.full((shape.latent_dim,), value))
        self.seen = nn.Linear(shape.latent_dim + shape.action_dim, shape.width)
        self.done = nn.Linear(shape.action_dim, shape.width)
        length = shape.condition_frames + shape.chunk
        self.position = nn.Parameter(0.02 * torch.randn(length, shape.width))
        layer = nn.TransformerEncoderLayer(
            shape.width, shape.heads, 4 * shape.width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.trunk = nn.TransformerEncoder(
            layer, shape.layers, nn.LayerNorm(shape.width), enable_nested_tensor=False
        )
        self.change = nn.Linear(shape.width, shape.latent_dim)
        nn.init.zeros_(self.change.weight)
        nn.init.zeros_(self.change.bias)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(length), persistent=False)

    def forward(self, latents: Tensor, past_actions: Tensor, actions: Tensor) -> Tensor:
        """Return the next latents (B, H, L).

        Args:
            latents: (B, F, L)
            past_actions: (B, F, A) normalised actions that led to them; zeros where there was none.
            actions: (B, H, A) normalised actions that follow.
        """
        seen = self.seen(torch.cat([(latents - self.mean) / self.std, past_actions], -1))
        tokens = torch.cat([seen, self.done(actions)], 1) + self.position
        hidden = self.trunk(tokens, mask=self.mask, is_causal=True)[:, self._frames :]
        changes: Tensor = self.change(hidden) * self.step
        return latents[:, -1:] + changes.cumsum(1)


class SuccessHead(nn.Module):
    """Predicts from the last F frames and a task's sentence whether the task is done.

    The embeddings of one scene's sentences are similar, so their mean is subtracted.
    """

    middle: Tensor
    spread: Tensor

    def __init__(self, shape: WorldShape) -> None:
        super().__init__()
        self._frames = shape.condition_frames
        self.register_buffer("middle", torch.zeros(EMBEDDING_DIM))
        self.register_buffer("spread", torch.ones(()))
        self.words = nn.Linear(EMBEDDING_DIM, 16)
        inputs = shape.condition_frames * shape.latent_dim + 16
        self.layers = nn.Sequential(
            nn.Linear(inputs, 128), nn.SiLU(), nn.Linear(128, 128), nn.SiLU(), nn.Linear(128, 1)
        )

    def forward(self, latents: Tensor, words: Tensor) -> Tensor:
        """Return logits (B, T - F + 1), each of F normalised latents of (B, T, L) in a row, and of words (B, 384)."""
        windows = latents.unfold(1, self._frames, 1).flatten(2)
        word_features = self.words((words - self.middle) / self.spread)[:, None].expand(
            -1, windows.shape[1], -1
        )
        found: Tensor = self.layers(torch.cat([windows, word_features], -1)).squeeze(-1)
        return found


class Member(nn.Module):
    """A member of the ensemble: dynamics and a success head."""

    def __init__(self, shape: WorldShape) -> None:
        super().__init__()
        self.dynamics = Dynamics(shape)
        self.verdict = SuccessHead(shape)  # the name is that of the weights in checkpoints

    def success_logits(self, latents: Tensor, words: Tensor) -> Tensor:
        """Return logits (B, T - F + 1) of success for latents (B, T, L) and words (B, 384)."""
        dynamics = self.dynamics
        found: Tensor = self.verdict((latents - dynamics.mean) / dynamics.std, words)
        return found

    @torch.no_grad()
    def scale(self, latents: Tensor, steps: Tensor, words: Tensor) -> None:
        """Set the scales from data: latents (N, L), their changes (C, L), and embeddings of sentences (K, 384)."""
        dynamics, success_head = self.dynamics, self.verdict
        success_head.middle.copy_(words.mean(0))
        apart = (words - success_head.middle).square().mean().sqrt()
        success_head.spread.copy_(apart if len(words) > 1 else torch.ones(()))
        dynamics.mean.copy_(latents.mean(0))
        dynamics.std.copy_(latents.std(0).clamp_min(1e-3))
        dynamics.step.copy_(_spread(steps))


def _spread(steps: Tensor) -> Tensor:
    """Return the standard deviation (L,) of changes (C, L) from frame to frame; 0 where it is below STILL."""
    spread = steps.std(0)
    return torch.where(spread < STILL, torch.zeros_like(spread), spread)


class WorldNetwork(nn.Module):
    """The autoencoder and the ensemble."""

    def __init__(self, shape: WorldShape) -> None:
        """Initialise the networks from torch's generator."""
        super().__init__()
        self.shape = shape
        self.pictures = Autoencoder(shape)  # the name is that of the weights in checkpoints
        self.members = nn.ModuleList(Member(shape) for _ in range(shape.members))

    def predict(self, latents: Tensor, past_actions: Tensor, actions: Tensor) -> Tensor:
        """Return the prediction of each member (M, B, H, L); the arguments are those of `Dynamics.forward`."""
        return torch.stack([member.dynamics(latents, past_actions, actions) for member in self.each()])

    def uncertainty(self, predictions: Tensor) -> Tensor:
        """Return (B, H) the greatest distance of a member from the mean of all, for predictions (M, B, H, L).

        The distance is the root mean square over the numbers of the state, or of the picture where there is no state,
        each in units of the standard deviation of its change in one step; constant numbers are left out, and so is a
        state that is constant as a whole.
        """
        step = self.each()[0].dynamics.step
        of_state = step[self.shape.latent :]
        scale = of_state if (of_state > 0).any() else step
        off = (predictions - predictions.mean(0))[..., -len(scale) :][..., scale > 0] / scale[scale > 0]
        return off.square().mean(-1).sqrt().amax(0)

    def success_logits(self, latents: Tensor, words: Tensor) -> Tensor:
        """Return logits (B, T - F + 1) of success for latents (B, T, L) and words (B, 384): the least over members."""
        return torch.stack([member.success_logits(latents, words) for member in self.each()]).amin(0)

    def each(self) -> list[Member]:
        """Return the members."""
        return [member for member in self.members if isinstance(member, Member)]
