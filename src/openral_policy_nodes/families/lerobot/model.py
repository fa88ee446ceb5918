"""A LeRobot policy with its pre- and postprocessor, loaded and run by LeRobot's code. In the sidecar only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from lerobot.configs.policies import PreTrainedConfig
from lerobot.configs.types import FeatureType
from lerobot.policies.factory import get_policy_class, make_pre_post_processors
from lerobot.policies.pretrained import PreTrainedPolicy
from numpy.typing import NDArray
from safetensors import safe_open

from openral_core.errors import PolicyError
from openral_policy_nodes.families.episode_seeds import EpisodeSeeds
from openral_policy_nodes.families.lerobot.checkpoint import BACKBONE, WEIGHTS, LeRobotCheckpoint
from openral_policy_nodes.families.lerobot.features import EMPTY_CAMERA, ENVIRONMENT, Features
from openral_policy_nodes.families.lerobot.static_sampling import cast_products, use_static_sampling
from openral_sidecar.cuda_graph_call import CudaGraphs
from openral_sidecar.device_transfer import on_device, to_unit
from openral_sidecar.host_noise import HostNoise

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
"""`quantization.dtype` of the manifest -> dtype of matrix products (autocast); fp32: no autocast, as in LeRobot."""
STATE = "observation.state"
SMOLVLA = "smolvla"
_IGNORE_ENVIRONMENT = ("smolvla", "pi0", "pi05", "xvla")
_DISTRIBUTIONS = ("lerobot", "torch", "transformers")


class LeRobotModel:
    """A policy on one device. Its only state is the number of chunks of each episode, which seeds the noise."""

    def __init__(
        self, checkpoint: LeRobotCheckpoint, device: str, dtype: str, seed: int, absent: Sequence[str] = ()
    ) -> None:
        """Load a checkpoint, and describe it in `features`.

        Args:
            checkpoint: to load.
            device: torch device.
            dtype: one of `DTYPES`.
            seed: of the initial noise of flow matching and diffusion.
            absent: cameras of its configuration without which it was trained.

        Raises:
            PolicyError: LeRobot cannot load it, tensors are missing, or the files of its backbone are not available.
        """
        if device.startswith("cuda") and not torch.cuda.is_available():
            raise PolicyError(
                f"device {device}: torch {torch.__version__} finds no GPU; name cpu, or fix the driver"
            )
        config = _config(checkpoint, device)
        self._device, self._dtype, self._seeds = torch.device(device), DTYPES[dtype], EpisodeSeeds(seed)
        self._policy = _load_policy(checkpoint, config, self._dtype)
        self._before, self._after = _load_processors(checkpoint, config)
        self.features = _features(config, absent)

    def reset(self, episodes: Sequence[str]) -> None:
        """Set the number of chunks of these episodes to zero, so that their noise is repeated."""
        self._seeds.reset(episodes)

    def predict(
        self,
        images: Mapping[str, NDArray[np.uint8]],
        state: NDArray[np.float32] | None,
        instructions: Sequence[str],
        episodes: Sequence[str] = (),
    ) -> NDArray[np.float32]:
        """Infer one chunk for each of B observations that fit `features`.

        Args:
            images: name -> (B, H, W, 3), or (B, T, H, W, 3) where an observation has T > 1 steps; RGB, 0 to 255.
            state: (B, D) or (B, T, D) in the units of the demonstrations; None: the policy takes none.
            instructions: B sentences.
            episodes: B names; the same name, seed and number of chunks since its reset give the same noise, on every
                device.

        Returns:
            (B, H, A) in the units of the demonstrations.
        """
        observation: dict[str, Any] = {
            name: to_unit(on_device(image, self._device)).movedim(-1, -3).contiguous()
            for name, image in images.items()
        }
        if state is not None:
            observation[STATE] = torch.from_numpy(np.ascontiguousarray(state))
        observation["task"] = list(instructions)
        torch.manual_seed(self._seeds.next(episodes))
        with torch.inference_mode(), self._autocast(), HostNoise():
            chunk = self._chunk(self._before(observation))
            rows = self._after(chunk.float().flatten(0, 1))  # the postprocessor takes single actions only
        result: NDArray[np.float32] = rows.reshape(*chunk.shape[:2], -1).float().cpu().numpy()
        return result

    def _chunk(self, batch: dict[str, Any]) -> torch.Tensor:
        self._policy.reset()
        if self.features.kind != "diffusion":
            chunk: torch.Tensor = self._policy.predict_action_chunk(batch)
            return chunk
        # DiffusionPolicy fills queues with one observation in each control step; here all T are passed at once.
        steps = self.features.n_obs_steps
        cameras = [batch[name] for name in self.features.images]
        past = {STATE: batch[STATE]} | (
            {"observation.images": torch.stack(cameras, dim=-4)} if cameras else {}
        )
        if steps == 1:
            past = {name: value.unsqueeze(1) for name, value in past.items()}
        chunk = self._policy.diffusion.generate_actions(past)
        return chunk

    def _autocast(self) -> torch.autocast:
        # A recorded CUDA graph would keep reading autocast's cached copies of weights, which are freed on exit.
        return torch.autocast(
            self._device.type,
            dtype=self._dtype,
            enabled=self._dtype != torch.float32,
            cache_enabled=self.features.kind != SMOLVLA,
        )


def _config(checkpoint: LeRobotCheckpoint, device: str) -> Any:
    """Return the configuration, without references to files that would be downloaded although they are here."""
    config = PreTrainedConfig.from_pretrained(checkpoint.folder)
    config.device = device
    config.pretrained_path = None
    if hasattr(config, "pretrained_backbone_weights"):
        config.pretrained_backbone_weights = None
    if hasattr(config, "compile_model"):
        config.compile_model = False
    if hasattr(config, "vlm_model_name") and checkpoint.backbone is not None:
        config.vlm_model_name = str(checkpoint.backbone)
    return config


def _load_policy(checkpoint: LeRobotCheckpoint, config: Any, dtype: torch.dtype) -> Any:
    thin_backbone = getattr(config, "load_vlm_weights", False)
    if thin_backbone:
        # The checkpoint holds the backbone's weights, so only their dtype, bf16, must be set.
        config.load_vlm_weights = False
    try:
        policy = get_policy_class(checkpoint.kind)(config)
        if thin_backbone:
            policy.model.vlm_with_expert.vlm.to(torch.bfloat16)
        cls = type(policy)
        if "from_pretrained" in vars(cls):  # pi0 and X-VLA rename tensors while they load
            policy = cls.from_pretrained(checkpoint.folder, config=config)
        else:
            # Weights are read into the host's memory, since on the device there would be two copies for a moment.
            policy = cls._load_as_safetensor(policy, str(checkpoint.folder / WEIGHTS), "cpu", strict=False)
            _refuse_missing(policy, checkpoint)
    except OSError as error:
        raise PolicyError(_backbone_fix(checkpoint, error)) from error
    except (ImportError, RuntimeError, ValueError, NotImplementedError) as error:
        raise PolicyError(f"{checkpoint.folder}: LeRobot cannot load it: {_first_line(error)}") from error
    if checkpoint.kind != SMOLVLA:
        return policy.to(config.device).eval()
    policy.model.vlm_with_expert.vlm.lm_head = torch.nn.Identity()  # the language-model head is unused
    if dtype != torch.float32:
        cast_products(policy, dtype)
    policy = policy.to(config.device).eval()
    if config.device.startswith("cuda") and config.rtc_config is None:
        use_static_sampling(policy, CudaGraphs())
    return policy


def _refuse_missing(policy: PreTrainedPolicy, checkpoint: LeRobotCheckpoint) -> None:
    """Raise PolicyError if tensors are missing, which LeRobot only logs, and replaces by random ones."""
    with safe_open(checkpoint.folder / WEIGHTS, "pt") as file:
        stored = set(file.keys())
    tensors = policy.state_dict()
    reached = {tensors[name].data_ptr() for name in stored if name in tensors}  # tied tensors are stored once
    missing = [
        name for name, tensor in tensors.items() if name not in stored and tensor.data_ptr() not in reached
    ]
    if missing:
        raise PolicyError(
            f"{checkpoint.folder / WEIGHTS} lacks {len(missing)} tensors of the policy, such as {missing[0]}; "
            "it belongs to another configuration, fetch both again"
        )


def _load_processors(checkpoint: LeRobotCheckpoint, config: Any) -> tuple[Any, Any]:
    device = {"device_processor": {"device": config.device}}
    before: dict[str, Any] = dict(device)
    if checkpoint.backbone is not None:
        before["tokenizer_processor"] = {"tokenizer_name": str(checkpoint.backbone)}
    try:
        before_after: tuple[Any, Any] = make_pre_post_processors(
            config, str(checkpoint.folder), preprocessor_overrides=before, postprocessor_overrides={}
        )
    except OSError as error:
        raise PolicyError(_backbone_fix(checkpoint, error)) from error
    except (ImportError, KeyError, ValueError) as error:
        raise PolicyError(
            f"{checkpoint.folder}: its processors cannot be loaded: {_first_line(error)}"
        ) from error
    return before_after


def _features(config: Any, absent: Sequence[str]) -> Features:
    inputs = {
        name: feature for name, feature in config.input_features.items() if not name.startswith(EMPTY_CAMERA)
    }
    images = {name: tuple(f.shape) for name, f in inputs.items() if f.type is FeatureType.VISUAL}
    strange = sorted(set(absent) - set(images))
    if strange or not set(images) - set(absent):
        raise PolicyError(
            f"absent cameras: {', '.join(absent)}; the policy has {', '.join(sorted(images))}, one must be left"
        )
    ignored = {ENVIRONMENT} if config.type in _IGNORE_ENVIRONMENT else set()
    state = inputs.get(STATE)
    resized = ("resize_imgs_with_padding", "image_resolution", "resize_shape")
    return Features(
        kind=config.type,
        images={name: _channels_first(shape) for name, shape in images.items() if name not in absent},
        any_size=any(getattr(config, name, None) for name in resized),
        state=int(state.shape[0]) if state is not None else 0,
        other=sorted(set(inputs) - set(images) - {STATE} - ignored),
        action=int(config.action_feature.shape[0]),
        rows=config.n_action_steps if config.type == "diffusion" else config.chunk_size,
        n_action_steps=config.n_action_steps,
        n_obs_steps=config.n_obs_steps,
        normalization={str(kind): mode.value for kind, mode in config.normalization_mapping.items()},
        versions={name: version(name) for name in _DISTRIBUTIONS},
    )


def _channels_first(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return (channels, height, width) of a shape, which is (height, width, 3) in some checkpoints on the hub."""
    first, second, third = shape
    return (third, first, second) if third == 3 and first != 3 else (first, second, third)


def _backbone_fix(checkpoint: LeRobotCheckpoint, error: OSError) -> str:
    name = checkpoint.config.get("vlm_model_name") or "its tokenizer"
    return (
        f"{checkpoint.folder}: {_first_line(error)} Put configuration and tokenizer of {name} into {BACKBONE}/ there: "
        f"`hf download {name} --include '*.json' '*.txt' --local-dir {checkpoint.folder / BACKBONE}`"
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
