"""A vision-language model with LoRA and a critic: logits of action tokens, one by one or all in one forward pass.

A checkpoint must be one that `transformers` loads as an image-text-to-text model from safetensors; code in a checkpoint
is not run. Action tokens are the last K entries of the vocabulary, the last one for the lowest
value, as in OpenVLA (arXiv:2406.09246, section 3.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from openral_core.errors import InstallationError, PolicyError
from openral_training.rl.policies.float32_products import with_float32_products
from openral_training.rl.settings.initial_model import TokenConfig

PROMPT = "In: What action should the robot take to {instruction}?\nOut:"
"""The prompt of OpenVLA."""
LORA_LAYERS = r".*language_model.*\.(q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)"
"""The linear layers of LLaMA and models of its form; the vision tower has no LoRA."""
VALUE_LAYERS = (512, 128)
"""Widths of the critic's hidden layers, which are those of RLinf's VLA models, as is their initialisation."""


class TokenModel(nn.Module):
    """The networks of a `TokenActor`. Only LoRA and the critic are trained, and `state_dict` has only these."""

    def __init__(self, config: TokenConfig, value_width: int) -> None:
        """Load a checkpoint; LoRA and critic are initialised from torch's generator.

        Args:
            config: which checkpoint.
            value_width: V, the number of the critic's values.

        Raises:
            InstallationError: transformers or peft is missing.
            PolicyError: the folder has no such checkpoint.
        """
        super().__init__()
        try:
            from peft import LoraConfig, get_peft_model
            from transformers import AutoImageProcessor, AutoModelForImageTextToText, AutoTokenizer
        except ImportError as error:
            raise InstallationError(f"{error.name} is not installed: pip install 'openral[vla]'") from error
        folder = Path(config.model_path)
        if not (folder / "config.json").is_file():
            raise PolicyError(
                f"actor.model.model_path: {folder} holds no config.json; name a checkpoint's folder"
            )
        try:
            here = {"local_files_only": True, "trust_remote_code": False}
            model = AutoModelForImageTextToText.from_pretrained(folder, use_safetensors=True, **here)
            self.tokenizer = AutoTokenizer.from_pretrained(folder, **here)
            self.images = AutoImageProcessor.from_pretrained(folder, **here)
        except (OSError, ValueError, KeyError) as error:
            raise PolicyError(
                f"actor.model.model_path: {folder} is not an image-text-to-text checkpoint of transformers ({error})"
            ) from error
        lora = LoraConfig(
            r=config.lora_rank, lora_alpha=config.lora_rank, lora_dropout=0.0, target_modules=LORA_LAYERS
        )
        self.adapted: Any = get_peft_model(with_float32_products(model.eval()), lora)
        self._bins, self._vocab_size = config.bins, self.tokenizer.vocab_size
        self.critic = _critic(model.config.text_config.hidden_size, value_width)
        self.pixel_scale: Tensor
        self.pixel_shift: Tensor
        self._fit_pixel_scale(folder)
        self._trained = frozenset(name for name, tensor in self.named_parameters() if tensor.requires_grad)

    def _fit_pixel_scale(self, folder: Path) -> None:
        """Find the scale and shift that the image processor applies to an image of the model's size.

        They are applied by `pixels` on any device, in place of the processor.

        Raises:
            PolicyError: the processor changes colours in another way than by scale and shift.
        """
        size = self.image_size
        noise = np.random.default_rng(0).integers(0, 256, (size, size, 3), np.uint8)
        probes = [np.zeros_like(noise), np.full_like(noise, 255), noise]
        processed: Tensor = self.images(images=probes, return_tensors="pt")["pixel_values"]
        if processed.shape == (3, 3, size, size):
            shift = processed[0, :, :1, :1]
            scale = (processed[1, :, :1, :1] - shift) / 255
            self.register_buffer("pixel_shift", shift, persistent=False)
            self.register_buffer("pixel_scale", scale, persistent=False)
            if torch.allclose(self.pixels(torch.from_numpy(noise)[None])[0], processed[2], atol=1e-4):
                return
        raise PolicyError(
            f"{folder}: its image processor does more to an image of {size} x {size} px than to scale colours; change "
            "preprocessor_config.json so that it neither resizes nor crops such an image"
        )

    @property
    def device(self) -> torch.device:
        """The device of its parameters."""
        return next(self.critic.parameters()).device

    @property
    def image_size(self) -> int:
        """S [px], edge of the square image."""
        size: int = self.adapted.config.vision_config.image_size
        return size

    def lora_parameters(self) -> Iterator[nn.Parameter]:
        """Yield the parameters of LoRA."""
        yield from (tensor for tensor in self.adapted.parameters() if tensor.requires_grad)

    def prompt(self, instruction: str) -> Tensor:
        """Return (1, L) token ids: one for each patch of the image, then those of the text."""
        config = self.adapted.config
        patches = (config.vision_config.image_size // config.vision_config.patch_size) ** 2
        question = self.tokenizer(PROMPT.format(instruction=instruction.lower()))["input_ids"]
        bos = [] if self.tokenizer.bos_token_id is None else [self.tokenizer.bos_token_id]
        if bos and question[:1] == bos:
            question = question[1:]
        return torch.tensor([[*bos, *[config.image_token_id] * patches, *question]])

    def pixels(self, images: Tensor) -> Tensor:
        """Scale images (B, S, S, 3) uint8 RGB as the image processor does; return (B, 3, S, S) on their device."""
        return images.permute(0, 3, 1, 2) * self.pixel_scale + self.pixel_shift

    def prefill(self, prompt: Tensor, pixels: Tensor) -> tuple[Tensor, Any]:
        """Read prompts (B, L) and images; return the hidden state of the last token (B, F), and the key-value cache."""
        return self._last_hidden(input_ids=prompt, pixel_values=pixels, use_cache=True)

    def decode(self, tokens: Tensor, cache: Any) -> tuple[Tensor, Any]:
        """Read one more action token (B,), 0..K-1; return hidden state and cache as `prefill` does."""
        return self._last_hidden(input_ids=self._ids(tokens)[:, None], past_key_values=cache, use_cache=True)

    def read_tokens(self, prompt: Tensor, pixels: Tensor, tokens: Tensor) -> Tensor:
        """Return hidden states (B, N, F) from which N action tokens (B, N) are predicted, in one forward pass."""
        sequence = torch.cat([prompt, self._ids(tokens[:, :-1])], dim=1)
        hidden: Tensor = (
            self._without_peft()
            .model(input_ids=sequence, pixel_values=pixels, use_cache=False)
            .last_hidden_state
        )
        return hidden[:, prompt.shape[1] - 1 :]

    def logits(self, hidden: Tensor) -> Tensor:
        """Return logits (..., K) of the next action token, the lowest value first, for hidden states (..., F).

        They are computed for action tokens alone, in float32 whatever the data type of the checkpoint.
        """
        head = self._without_peft().get_output_embeddings()
        action_tokens = slice(self._vocab_size - self._bins, self._vocab_size)
        bias = None if head.bias is None else head.bias[action_tokens].float()
        return linear(hidden.float(), head.weight[action_tokens].float(), bias).flip(-1)

    def values(self, hidden: Tensor) -> Tensor:
        """Return the critic's values (..., V), float32, for hidden states (..., F) before the first action token."""
        values: Tensor = self.critic(hidden.float())
        return values

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]
        """Return the parameters that are trained, without those of the checkpoint."""
        everything = super().state_dict(*args, **kwargs)
        return {name: value for name, value in everything.items() if name in self._trained}

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """Load the parameters that `state_dict` returned; see `torch.nn.Module.load_state_dict`."""
        if strict and (missing := self._trained - set(state_dict)):
            raise RuntimeError(f"{len(missing)} tensors are missing, such as {min(missing)}")
        return super().load_state_dict(state_dict, strict=False, assign=assign)

    def _without_peft(self) -> Any:
        """Return the transformers model, whose layers include LoRA, without peft's wrapper."""
        return self.adapted.get_base_model()

    def _last_hidden(self, **inputs: Any) -> tuple[Tensor, Any]:
        out = self._without_peft().model(**inputs)
        return out.last_hidden_state[:, -1], out.past_key_values

    def _ids(self, tokens: Tensor) -> Tensor:
        """Return the vocabulary's ids of action tokens 0..K-1."""
        ids: Tensor = self._vocab_size - 1 - tokens.long()
        return ids


def _critic(features: int, values: int) -> nn.Sequential:
    """Return the critic's network, on the hidden state from which the first action token is predicted."""
    layers: list[nn.Module] = []
    width = features
    for hidden in VALUE_LAYERS:
        layers += [nn.Linear(width, hidden), nn.GELU()]
        width = hidden
    last = nn.Linear(width, values, bias=False)
    nn.init.normal_(last.weight, std=0.02)
    return nn.Sequential(*layers, last)
