"""A language model that sees, with LoRA: scores of action tokens one by one, or of all of them at once.

Any checkpoint that `transformers` loads as an image-text-to-text model by its own code: no code comes with a
checkpoint, and weights are safetensors. An action token is one of the last K words of the vocabulary, the last one for
the lowest value, as OpenVLA has it (arXiv:2406.09246, section 3.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import linear

from openral_core.errors import InstallationError, PolicyError
from openral_core.schema import Count, Schema, Word
from openral_training.rl.policies.float32_products import with_float32_products

PROMPT = "In: What action should the robot take to {words}?\nOut:"
"""OpenVLA's."""
LORA_LAYERS = r".*language_model.*\.(q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)"
"""The linear layers of LLaMA and its like; the vision tower stays as it is."""
VALUE_LAYERS = (512, 128)
"""Of the critic; sizes and initialisation as RLinf has them for its VLA models."""


class TokenConfig(Schema):
    """A model that acts by tokens."""

    model_type: Literal["tokens"] = "tokens"
    """Which policy."""
    model_path: Word
    """Folder of a checkpoint as transformers writes it, tokenizer and image processor included."""
    chunk: Count = 8
    """C, control steps of one decision."""
    bins: Annotated[int, Field(ge=3)] = 256
    """K, action tokens."""
    lora_rank: Count = 32
    """Rank of what is added to each linear layer of the language model; its scale is 1."""


class TokenModel(nn.Module):
    """What a `TokenActor` is made of. Only LoRA and critic are learnt, and only they are its state."""

    def __init__(self, config: TokenConfig, value_width: int) -> None:
        """Load a checkpoint; LoRA and critic are fresh, from torch's generator.

        Args:
            config: which checkpoint.
            value_width: V

        Raises:
            InstallationError: transformers or peft is missing.
            PolicyError: the folder holds no such checkpoint.
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
            raise PolicyError(f"{folder}: not an image-text-to-text checkpoint ({error})") from error
        lora = LoraConfig(
            r=config.lora_rank, lora_alpha=config.lora_rank, lora_dropout=0.0, target_modules=LORA_LAYERS
        )
        self.adapted: Any = get_peft_model(with_float32_products(model.eval()), lora)
        self._bins, self._words = config.bins, self.tokenizer.vocab_size
        self.critic = _critic(model.config.text_config.hidden_size, value_width)
        self.pixel_scale: Tensor
        self.pixel_shift: Tensor
        self._read_pixels(folder)
        self._learnt = frozenset(name for name, tensor in self.named_parameters() if tensor.requires_grad)

    def _read_pixels(self, folder: Path) -> None:
        """Find out what the image processor does to a picture of the model's size, to do it on any device.

        Raises:
            PolicyError: it does more than scale and shift the colours.
        """
        size = self.image_size
        noise = np.random.default_rng(0).integers(0, 256, (size, size, 3), np.uint8)
        shown = [np.zeros_like(noise), np.full_like(noise, 255), noise]
        made: Tensor = self.images(images=shown, return_tensors="pt")["pixel_values"]
        if made.shape == (3, 3, size, size):
            shift = made[0, :, :1, :1]
            scale = (made[1, :, :1, :1] - shift) / 255
            self.register_buffer("pixel_shift", shift, persistent=False)
            self.register_buffer("pixel_scale", scale, persistent=False)
            if torch.allclose(self.pixels(torch.from_numpy(noise)[None])[0], made[2], atol=1e-4):
                return
        raise PolicyError(
            f"{folder}: its image processor does more to a picture of {size} x {size} px than to scale colours; "
            "write its preprocessor_config.json so that such a picture keeps its size"
        )

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return next(self.critic.parameters()).device

    @property
    def image_size(self) -> int:
        """S [px]"""
        size: int = self.adapted.config.vision_config.image_size
        return size

    def learnt(self) -> Iterator[nn.Parameter]:
        """Yield LoRA's parameters."""
        yield from (tensor for tensor in self.adapted.parameters() if tensor.requires_grad)

    def prompt(self, words: str) -> Tensor:
        """Return (1, L) tokens: one for each patch of the picture, then the question."""
        config = self.adapted.config
        patches = (config.vision_config.image_size // config.vision_config.patch_size) ** 2
        question = self.tokenizer(PROMPT.format(words=words.lower()))["input_ids"]
        first = [] if self.tokenizer.bos_token_id is None else [self.tokenizer.bos_token_id]
        said = question[1:] if first and question[:1] == first else question
        return torch.tensor([[*first, *[config.image_token_id] * patches, *said]])

    def pixels(self, images: Tensor) -> Tensor:
        """Return (B, 3, S, S) of (B, S, S, 3) uint8 RGB, as the image processor makes them, on their device."""
        return images.permute(0, 3, 1, 2) * self.pixel_scale + self.pixel_shift

    def begin(self, prompt: Tensor, pixels: Tensor) -> tuple[Tensor, Any]:
        """Read prompts (B, L) and pictures; return what the last token became (B, F), and the cache."""
        return self._last(input_ids=prompt, pixel_values=pixels, use_cache=True)

    def go_on(self, tokens: Tensor, cache: Any) -> tuple[Tensor, Any]:
        """Read one more action token (B,) 0..K-1; return as `begin`."""
        return self._last(input_ids=self._ids(tokens)[:, None], past_key_values=cache, use_cache=True)

    def read(self, prompt: Tensor, pixels: Tensor, tokens: Tensor) -> Tensor:
        """Return (B, N, F): what the token before each of N action tokens (B, N) became, all read at once."""
        sequence = torch.cat([prompt, self._ids(tokens[:, :-1])], dim=1)
        hidden: Tensor = (
            self._core().model(input_ids=sequence, pixel_values=pixels, use_cache=False).last_hidden_state
        )
        return hidden[:, prompt.shape[1] - 1 :]

    def scores(self, hidden: Tensor) -> Tensor:
        """Return (..., K) float32 scores of the next action token, the lowest value's first, of (..., F) hidden states.

        They are computed in float32 whatever the checkpoint's number format, and only those of action tokens are.
        """
        head, words = self._core().get_output_embeddings(), slice(self._words - self._bins, self._words)
        bias = None if head.bias is None else head.bias[words].float()
        return linear(hidden.float(), head.weight[words].float(), bias).flip(-1)

    def expected(self, hidden: Tensor) -> Tensor:
        """Return (..., V) float32 expected returns of the hidden states (..., F) of the first action token."""
        values: Tensor = self.critic(hidden.float())
        return values

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]
        """Return what is learnt: a checkpoint of many gigabytes is neither saved nor sent again and again."""
        whole = super().state_dict(*args, **kwargs)
        return {name: value for name, value in whole.items() if name in self._learnt}

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """Take what `state_dict` returned; see torch."""
        if strict and (missing := self._learnt - set(state_dict)):
            raise RuntimeError(f"{len(missing)} tensors are missing, such as {min(missing)}")
        return super().load_state_dict(state_dict, strict=False, assign=assign)

    def _core(self) -> Any:
        """Return the model with LoRA in its layers, without what peft has around it."""
        return self.adapted.get_base_model()

    def _last(self, **inputs: Any) -> tuple[Tensor, Any]:
        out = self._core().model(**inputs)
        return out.last_hidden_state[:, -1], out.past_key_values

    def _ids(self, tokens: Tensor) -> Tensor:
        ids: Tensor = self._words - 1 - tokens.long()
        return ids


def _critic(features: int, values: int) -> nn.Sequential:
    """Return a network on the hidden state that the first action token is read from."""
    layers: list[nn.Module] = []
    width = features
    for hidden in VALUE_LAYERS:
        layers += [nn.Linear(width, hidden), nn.GELU()]
        width = hidden
    last = nn.Linear(width, values, bias=False)
    nn.init.normal_(last.weight, std=0.02)
    return nn.Sequential(*layers, last)
