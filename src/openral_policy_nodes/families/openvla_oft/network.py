"""The network of OpenVLA-OFT with action tokens: two vision towers, a projector, a LLaMA with bidirectional attention.

Names of the modules are those of the checkpoint's tensors. Source of the computation: moojink/openvla-oft (213c5ff),
`prismatic/extern/hf/modeling_prismatic.py`, and its fork of transformers, in which every token attends to every other
(moojink/openvla-oft issue 27). Upstream's own classes are not used, since they are downloaded with the checkpoint and
would be run without a check.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import timm
import torch
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM

STOP = 2
"""Token `</s>` of LLaMA."""


class VisionBackbone(nn.Module):
    """One or two vision transformers in parallel, which return the patch features of their second-to-last layers."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        names, sizes = config["timm_model_ids"], config["image_sizes"]
        self.featurizer = _tower(names[0], sizes[0])
        self.fused_featurizer = _tower(names[1], sizes[1]) if len(names) > 1 else None
        self.towers = len(names)
        self.width = sum(
            tower.embed_dim for tower in (self.featurizer, self.fused_featurizer) if tower is not None
        )

    def forward(self, pixels: Tensor) -> Tensor:
        """Return features (B, N * patches, width), ordered by camera, of images (B, N * towers * 3, H, W)."""
        seen = []
        for index in range(pixels.shape[1] // (3 * self.towers)):
            camera = pixels[:, 3 * self.towers * index : 3 * self.towers * (index + 1)]
            patches = [_patches(self.featurizer, camera[:, :3])]
            if self.fused_featurizer is not None:
                patches.append(_patches(self.fused_featurizer, camera[:, 3:]))
            seen.append(torch.cat(patches, dim=2))
        return torch.cat(seen, dim=1)


class Projector(nn.Module):
    """MLP from the towers' features to LLaMA's embeddings."""

    def __init__(self, width: int, hidden: int, fused: bool) -> None:
        super().__init__()
        first = 4 * width if fused else hidden
        self.fc1 = nn.Linear(width, first)
        self.fc2 = nn.Linear(first, hidden)
        self.fc3 = nn.Linear(hidden, hidden) if fused else None

    def forward(self, patches: Tensor) -> Tensor:
        """Return embeddings (B, P, hidden) of features (B, P, width)."""
        out: Tensor = self.fc2(nn.functional.gelu(self.fc1(patches)))
        if self.fc3 is not None:
            out = self.fc3(nn.functional.gelu(out))
        return out


class ProprioProjector(nn.Module):
    """MLP from normalised proprioception to the embedding of one token."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(size, hidden)
        self.fc2 = nn.Linear(hidden, hidden)

    def forward(self, proprio: Tensor) -> Tensor:
        """Return the embedding (B, 1, hidden) of proprioception (B, D) in -1..1."""
        token: Tensor = self.fc2(nn.functional.gelu(self.fc1(proprio)))
        return token.unsqueeze(1)


class OpenVLAOFT(nn.Module):
    """The whole network; see `forward`."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        text = LlamaConfig(**{**config["text_config"], "attn_implementation": "sdpa"})
        self.vision_backbone = VisionBackbone(config)
        self.projector = Projector(
            self.vision_backbone.width, text.hidden_size, self.vision_backbone.towers > 1
        )
        self.language_model = LlamaForCausalLM(text)

    def words(self, prompt: Tensor) -> Tensor:
        """Return embeddings (B, L + 1, hidden) of a prompt and `</s>`, from a table that may be in the host's memory.

        Args:
            prompt: (B, L) tokens, of which the first is `<s>` and the last the blank after `Out:`.
        """
        words: Tensor = self.language_model.get_input_embeddings()(
            torch.cat([prompt, prompt.new_full((len(prompt), 1), STOP)], dim=1)
        )
        return words

    def forward(
        self, words: Tensor, pixels: Tensor, proprio: Tensor | None, actions: int, stop: bool
    ) -> Tensor:
        """Score all action tokens at once, with kernels that depend on shapes only, so that they can be recorded.

        Args:
            words: (B, L + 1, hidden) from `words`.
            pixels: (B, N * towers * 3, H, W).
            proprio: (B, 1, hidden) or None.
            actions: K, number of action tokens.
            stop: whether `</s>` follows them, as in moojink's code but not in RLinf's.

        Returns:
            (B, K, V) scores, where V is the size of the vocabulary with padding.
        """
        words, end = words[:, :-1], words[:, -1:]
        seen = [self.projector(self.vision_backbone(pixels))] + ([proprio] if proprio is not None else [])
        empty = words.new_zeros(len(words), actions, words.shape[2])
        tail = [end] if stop else []
        sequence = torch.cat([words[:, :1], *seen, words[:, 1:], empty, *tail], dim=1)
        length = sequence.shape[1]
        both_ways = sequence.new_zeros(len(sequence), 1, length, length)  # added to the scores of attention
        hidden = self.language_model.model(inputs_embeds=sequence, attention_mask=both_ways, use_cache=False)[
            0
        ]
        # The output at a token has the scores of the next one.
        first = length - len(tail) - actions - 1
        scores: Tensor = self.language_model.lm_head(hidden[:, first : first + actions])
        return scores


def _tower(name: str, size: int) -> Any:
    return timm.create_model(name, pretrained=False, num_classes=0, img_size=size)


def _patches(tower: Any, images: Tensor) -> Tensor:
    [patches] = tower.get_intermediate_layers(images, n=[len(tower.blocks) - 2])
    result: Tensor = patches
    return result
