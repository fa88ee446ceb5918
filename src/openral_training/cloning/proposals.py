"""Training of policies with several proposals: the mixture loss, and a network that begins with one proposal.

Demonstrators act in several ways on the same observation: lift the hand once more, or pull now. A network with one
chunk learns their median under an L1 error, which may be to stand still. Here the proposals are the centres of a
mixture of Laplace distributions (Bishop 1994, "Mixture density networks"), and each specialises on one way.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from openral_policy_nodes.families.mini.network import MiniNetwork

SCALE = 0.05
"""Scale of each distribution, in units of the mean absolute error of a chunk; ways that differ by less become one."""
SPREAD = 0.3
"""Standard deviation of the noise on the weights of copied proposals, relative to that of the weights."""


def mixture_error(errors: Tensor, logits: Tensor) -> Tensor:
    """Return the error (B,) of proposals: that of the only one, or that of the mixture.

    It is -SCALE * log sum_k p_k exp(-error_k / SCALE): about the least error plus SCALE times the negative logarithm of
    its probability.

    Args:
        errors: (B, K) mean absolute error of each proposal.
        logits: (B, K) of their probabilities p.
    """
    return -SCALE * torch.logsumexp(torch.log_softmax(logits, 1) - errors / SCALE, 1)


def with_proposals(network: MiniNetwork, count: int) -> MiniNetwork:
    """Return a network with `count` proposals that are noisy copies of the only one of another network.

    The noise comes from torch's generator.
    """
    config = replace(network.config, proposals=count)
    wider = MiniNetwork(config)
    state = network.state_dict()
    last = f"head.{len(network.head) - 1}"
    weight, bias = state[f"{last}.weight"], state[f"{last}.bias"]
    state[f"{last}.weight"] = torch.cat(
        [weight + SPREAD * weight.std() * torch.randn_like(weight) for _ in range(count)]
        + [torch.zeros(count, weight.shape[1])]
    )
    state[f"{last}.bias"] = torch.cat([bias.repeat(count), torch.zeros(count)])
    wider.load_state_dict(state)
    return wider
