"""Runs in the sidecar's interpreter: a chunk of OpenVLA-OFT step by step as upstream's code does it.

    python openvla_reference.py FOLDER INPUT.npz OUTPUT.npy

Written anew from moojink/openvla-oft (213c5ff): one observation at a time, PIL-free, eager attention with an additive
mask, positions of the action tokens by upstream's arithmetic. It shares openral's modules of the network, not its use
of them, nor its tokens, statistics and images.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from openral_sidecar.environment.torchvision_shim import ensure_torchvision

ensure_torchvision()

import torch  # noqa: E402
from safetensors.torch import load_file  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

from openral_policy_nodes.families.openvla_oft.network import OpenVLAOFT, ProprioProjector  # noqa: E402

CHUNK, STOP = 8, 2


def crop(image: np.ndarray) -> np.ndarray:
    """TensorFlow's crop_and_resize of the middle 90 %, pixel by pixel."""
    size, side = len(image), np.sqrt(0.9)
    places = [(0.5 - side / 2 + index * side / (size - 1)) * (size - 1) for index in range(size)]
    out = np.zeros(image.shape)
    for row, y in enumerate(places):
        for column, x in enumerate(places):
            top, left = int(y), int(x)
            down, right = y - top, x - left
            block = image[top : top + 2, left : left + 2].astype(float) / 255
            upper = block[0, 0] * (1 - right) + block[0, 1] * right
            lower = block[1, 0] * (1 - right) + block[1, 1] * right
            out[row, column] = upper * (1 - down) + lower * down
    return np.minimum(out * 255.5, 255).astype(np.uint8)


def main(folder: Path, source: str, target: str) -> None:
    config = json.loads((folder / "config.json").read_text())
    stats = json.loads((folder / "dataset_statistics.json").read_text())["libero_spatial_no_noops"]
    preprocessor = json.loads((folder / "preprocessor_config.json").read_text())
    network = OpenVLAOFT(config)
    tensors = {}
    for path in sorted(folder.glob("model-*.safetensors")):
        tensors |= load_file(path)
    network.load_state_dict({name.replace("scale_factor", "gamma"): value for name, value in tensors.items()})
    network.language_model.set_attn_implementation("eager")
    network.float().eval()
    hidden = config["text_config"]["hidden_size"]
    projector = ProprioProjector(len(stats["proprio"]["q01"]), hidden)
    stored = load_file(folder / "proprio_projector.safetensors")
    projector.load_state_dict({name.removeprefix("module."): value.float() for name, value in stored.items()})
    tokenizer = AutoTokenizer.from_pretrained(folder)
    words = config["text_config"]["vocab_size"] - config["pad_to_multiple_of"]
    edges = np.linspace(-1, 1, config["n_action_bins"])
    centres = (edges[:-1] + edges[1:]) / 2
    low, high, mask = (np.array(stats["action"][name]) for name in ("q01", "q99", "mask"))
    given = np.load(source)
    chunks = []
    for images, state, sentence in zip(given["images"], given["state"], given["instructions"], strict=True):
        channels = []
        for image in images:
            for mean, std in zip(preprocessor["means"], preprocessor["stds"], strict=True):
                floats = torch.from_numpy(crop(image)).permute(2, 0, 1) / 255
                channels.append(
                    (floats - torch.tensor(mean)[:, None, None]) / torch.tensor(std)[:, None, None]
                )
        pixels = torch.cat(channels)[None].float()
        prompt = f"In: What action should the robot take to {str(sentence).lower()}?\nOut:"
        tokens = tokenizer(prompt, return_tensors="pt").input_ids
        tokens = torch.cat([tokens, torch.tensor([[tokenizer.convert_tokens_to_ids("▁")]])], dim=1)
        bounds = [np.array(stats["proprio"][name]) for name in ("q01", "q99")]
        proprio = np.clip(2 * (state - bounds[0]) / (bounds[1] - bounds[0] + 1e-8) - 1, -1, 1)
        with torch.no_grad():
            patches = network.projector(network.vision_backbone(pixels))
            patches = torch.cat([patches, projector(torch.from_numpy(proprio[None]).float())], dim=1)
            count = len(low) * CHUNK
            ids = torch.cat([tokens, torch.ones(1, count, dtype=torch.long), torch.full((1, 1), STOP)], dim=1)
            embeddings = network.language_model.get_input_embeddings()(ids)
            embeddings[:, tokens.shape[1] : tokens.shape[1] + count] = 0
            sequence = torch.cat([embeddings[:, :1], patches, embeddings[:, 1:]], dim=1)
            open_mask = torch.zeros(1, 1, sequence.shape[1], sequence.shape[1])
            logits = network.language_model(
                inputs_embeds=sequence, attention_mask=open_mask, use_cache=False
            ).logits
            begin = patches.shape[1] + tokens.shape[1] - 1
            scores = logits[0, begin : begin + count]
            scores[:, : words - config["n_action_bins"]] = -np.inf
            scores[:, words:] = -np.inf
            chosen = scores.argmax(dim=1).numpy()
        values = centres[np.clip(words - chosen - 1, 0, len(centres) - 1)].reshape(CHUNK, -1)
        chunks.append(np.where(mask, 0.5 * (values + 1) * (high - low + 1e-8) + low, values))
    np.save(target, np.stack(chunks).astype(np.float32))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
