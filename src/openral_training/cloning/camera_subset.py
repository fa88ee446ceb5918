"""A network that begins with the weights of one that has further cameras."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import torch
from torch import Tensor

from openral_policy_nodes.families.mini.network import MiniNetwork
from openral_rskill.mini.trunk import FilmTrunk


def with_cameras(network: MiniNetwork, cameras: Sequence[str]) -> MiniNetwork:
    """Return a network with these of another network's cameras, in this order, and its weights of all that is left.

    What the other cameras' features were multiplied with is left out, so it acts differently until it is trained.

    Args:
        network: has them all.
        cameras: feature keys.
    """
    smaller = MiniNetwork(replace(network.config, cameras=tuple(cameras)))
    kept = [network.config.cameras.index(camera) for camera in cameras]
    widths = [cast(FilmTrunk, trunk).out_features for trunk in network.trunks]
    first = [sum(widths[:number]) for number in range(len(widths) + 1)]
    columns = torch.cat(
        [torch.arange(first[number], first[number + 1]) for number in kept]
        + [torch.arange(first[-1], network.width)]
    )
    state: dict[str, Tensor] = {}
    for name, tensor in network.state_dict().items():
        part, _, rest = name.partition(".")
        if part == "trunks":
            number, _, rest = rest.partition(".")
            if int(number) in kept:
                state[f"trunks.{kept.index(int(number))}.{rest}"] = tensor
        elif name == "landmarks.0.weight":  # landmarks are inputs of the head and not of themselves
            state[name] = tensor[:, columns[: tensor.shape[1] - first[-1] + sum(widths[n] for n in kept)]]
        else:
            state[name] = tensor[:, columns] if name == "head.0.weight" else tensor
    smaller.load_state_dict(state)
    return smaller
