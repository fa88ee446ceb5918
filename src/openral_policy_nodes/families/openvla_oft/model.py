"""An OpenVLA-OFT checkpoint on one device, which infers actions in the demonstrations' units. In the sidecar only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from accelerate import init_empty_weights
from numpy.typing import NDArray
from safetensors.torch import load_file
from tokenizers import Tokenizer

from openral_core.errors import PolicyError
from openral_policy_nodes.families.episode_seeds import EpisodeSeeds
from openral_policy_nodes.families.openvla_oft.actions import ActionStatistics, tokens_to_values
from openral_policy_nodes.families.openvla_oft.checkpoint import PROPRIO, OpenVlaCheckpoint
from openral_policy_nodes.families.openvla_oft.images import centre_crop, tower_pixels
from openral_policy_nodes.families.openvla_oft.network import OpenVLAOFT, ProprioProjector
from openral_policy_nodes.families.openvla_oft.settings import OpenVlaSettings
from openral_rskill.nf4.load import load_checkpoint
from openral_rskill.nf4.module_surgery import cast_parameters
from openral_rskill.nf4.packable_weights import MIN_NUMEL
from openral_rskill.nf4.rule import linears_to_pack
from openral_sidecar.cuda_graph_call import CudaGraphCall, CudaGraphs, Function
from openral_sidecar.device_transfer import on_device

PACKED = "int4"
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16, PACKED: torch.bfloat16}
"""Number format of a manifest -> dtype of computations, and of weights that are not packed."""
EMBEDDING = "language_model.model.embed_tokens"
EMPTY_WORD = "▁"
"""LLaMA's token of the blank after `Out:` (29871)."""


class OpenVLAOFTModel:
    """Infers chunks of `rows` actions from N cameras, proprioception and a sentence."""

    def __init__(
        self,
        checkpoint: OpenVlaCheckpoint,
        settings: OpenVlaSettings,
        device: str,
        dtype: str,
        min_numel: int = MIN_NUMEL,
    ) -> None:
        """Load a checkpoint; see `load_network`.

        Raises:
            PolicyError: tensors are missing, or the device or the statistics of that name do not exist.
        """
        if device.startswith("cuda") and not torch.cuda.is_available():
            raise PolicyError(
                f"device {device}: torch {torch.__version__} finds no GPU; name cpu, or fix the driver"
            )
        self.checkpoint, self.settings = checkpoint, settings
        self.action = ActionStatistics.read(checkpoint.norm_stats, settings.norm_tag, "action")
        self.proprio = None
        if checkpoint.takes_proprio:
            self.proprio = ActionStatistics.read(checkpoint.norm_stats, settings.norm_tag, "proprio")
        self._device, self._seeds = torch.device(device), EpisodeSeeds(settings.seed)
        self._network, self.packed = load_network(checkpoint, device, dtype, min_numel)
        self._project = _load_projector(checkpoint, self._network, self.proprio)
        self.score: Function = self._scores
        """`_scores`, on a GPU as one CUDA graph."""
        if self._device.type == "cuda":
            self.score = CudaGraphCall(self._scores, CudaGraphs())
        self._tokenizer = Tokenizer.from_file(str(checkpoint.folder / "tokenizer.json"))
        empty = self._tokenizer.token_to_id(EMPTY_WORD)
        if empty is None:
            raise PolicyError(
                f"{checkpoint.folder / 'tokenizer.json'} has no word '{EMPTY_WORD}'; it is not LLaMA's"
            )
        self._empty: int = empty

    def reset(self, episodes: Sequence[str]) -> None:
        """Repeat the samples of these episodes."""
        self._seeds.reset(episodes)

    def predict(
        self,
        images: NDArray[np.uint8],
        state: NDArray[np.float32],
        instructions: Sequence[str],
        episodes: Sequence[str] = (),
    ) -> NDArray[np.float32]:
        """Infer one chunk for each of B observations.

        Args:
            images: (B, N, S, S, 3), of N cameras in the order of training; S is the checkpoint's image size [px].
            state: (B, D) in the demonstrations' units; ignored by a checkpoint without proprioception.
            instructions: B sentences.
            episodes: B names, which seed the sampling.

        Returns:
            (B, H, A) in the demonstrations' units, also for the gripper.
        """
        torch.manual_seed(self._seeds.next(episodes))
        pixels = self._pixels(images)
        prompts = [self._tokens(sentence) for sentence in instructions]
        tokens = np.empty((len(prompts), self.settings.rows * len(self.action.low)), np.int64)
        # Sentences of one length are inferred together, without padding, so an answer does not depend on the batch.
        for length in sorted({len(prompt) for prompt in prompts}):
            chosen = [index for index, prompt in enumerate(prompts) if len(prompt) == length]
            tokens[chosen] = self._infer(pixels[chosen], state[chosen], [prompts[index] for index in chosen])
        values = tokens_to_values(tokens, self.checkpoint.vocabulary, self.checkpoint.bins)
        chunk = self.action.unnormalise(values.reshape(len(prompts), self.settings.rows, -1))
        return chunk.astype(np.float32)

    @torch.inference_mode()
    def _pixels(self, images: NDArray[np.uint8]) -> torch.Tensor:
        """Return the inputs of the vision towers (B, N * towers * 3, S, S), on their device and in their dtype."""
        there = on_device(images, self._device)
        cropped = centre_crop(there) if self.settings.center_crop else there
        pixels = tower_pixels(cropped, self.checkpoint.means, self.checkpoint.stds)
        return pixels.to(next(self._network.parameters()).dtype)

    def _infer(
        self, pixels: torch.Tensor, state: NDArray[np.float32], prompts: list[list[int]]
    ) -> NDArray[np.int64]:
        dtype = next(self._network.parameters()).dtype
        with torch.inference_mode():
            proprio = None
            if self._project is not None and self.proprio is not None:
                numbers = torch.from_numpy(self.proprio.normalise(state))
                proprio = self._project(numbers.to(self._device, dtype))
            words = self._network.words(torch.tensor(prompts, device=self._device))
            scores = self.score(words, pixels, *([] if proprio is None else [proprio]))
            last = self.checkpoint.vocabulary
            scores = scores[..., last - self.checkpoint.bins : last].float()
            chosen = _choose(scores, self.settings.temperature) + last - self.checkpoint.bins
        result: NDArray[np.int64] = chosen.cpu().numpy()
        return result

    def _scores(self, words: torch.Tensor, pixels: torch.Tensor, *proprio: torch.Tensor) -> torch.Tensor:
        """Return the scores of all action tokens; see `OpenVLAOFT.forward`."""
        scores: torch.Tensor = self._network(
            words,
            pixels,
            proprio[0] if proprio else None,
            self.settings.rows * len(self.action.low),
            self.settings.stop_token,
        )
        return scores

    def _tokens(self, sentence: str) -> list[int]:
        prompt = f"In: What action should the robot take to {sentence.lower()}?\nOut:"
        tokens: list[int] = self._tokenizer.encode(prompt).ids
        return tokens if tokens[-1] == self._empty else [*tokens, self._empty]


def _choose(scores: torch.Tensor, temperature: float) -> torch.Tensor:
    """Return indices (B, K) from scores (B, K, bins): the best one at temperature 0, else a sampled one."""
    if temperature == 0:
        return scores.argmax(dim=-1)
    chances = torch.softmax(scores / temperature, dim=-1)
    return torch.multinomial(chances.flatten(0, 1), 1).reshape(scores.shape[:2])


def load_network(
    checkpoint: OpenVlaCheckpoint, device: str, dtype: str, min_numel: int = MIN_NUMEL
) -> tuple[OpenVLAOFT, list[str]]:
    """Build the modules on the meta device, then read the checkpoint's tensors into them, one at a time.

    With the dtype int4 the linear layers of the language model are packed in NF4 as they are read. The vision towers,
    their projector and the language-model head stay in bf16. The embedding table of tokens stays in the host's memory.

    Args:
        checkpoint: to load.
        device: torch device.
        dtype: one of `DTYPES`.
        min_numel: least number of weights of a layer that is packed.

    Returns:
        The network and the names of its packed layers.

    Raises:
        PolicyError: tensors are missing or of another shape.
    """
    with init_empty_weights(include_buffers=False):
        network = OpenVLAOFT(checkpoint.config)
    cast_parameters(network, DTYPES[dtype])
    known = {name for name, _ in (*network.named_parameters(), *network.named_buffers())}
    pack = linears_to_pack(network, min_numel, _is_packed) if dtype == PACKED else []

    def renamed(name: str) -> str | None:
        # Upstream renames timm's layer scales from `gamma` to `scale_factor`, since transformers takes `gamma` for an
        # old name of another parameter.
        name = name.replace(".scale_factor", ".gamma")
        return name if name in known else None

    packed = load_checkpoint(
        network, checkpoint.weights, device, pack=pack, on_host=[EMBEDDING], renamed=renamed
    )
    return network.eval(), packed


def _is_packed(name: str) -> bool:
    return name.startswith("language_model.model.")


def _load_projector(
    checkpoint: OpenVlaCheckpoint, network: OpenVLAOFT, proprio: ActionStatistics | None
) -> ProprioProjector | None:
    if proprio is None:
        return None
    projector = ProprioProjector(len(proprio.low), network.language_model.config.hidden_size)
    stored = load_file(checkpoint.folder / PROPRIO)
    try:
        projector.load_state_dict({name.removeprefix("module."): tensor for name, tensor in stored.items()})
    except RuntimeError as error:
        what = str(error).splitlines()[-1].strip()
        raise PolicyError(f"{checkpoint.folder / PROPRIO} does not fit: {what}") from error
    reference = next(network.parameters())
    return projector.to(reference.device, reference.dtype).eval()
