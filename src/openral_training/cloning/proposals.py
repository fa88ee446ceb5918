"""Learning to propose several chunks: the error of a mixture, and how it starts from a network that proposes one.

Demonstrators go on in several ways from what looks the same: lift the hand once more, or pull now. A network of one
chunk learns the median of them under an L1 error, which may be to stand still for ever. Here the proposals are the
middles of a mixture of Laplace distributions (Bishop 1994, "Mixture density networks"), and each takes over one way.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from openral_policy_nodes.families.mini.network import MiniNetwork

SCALE = 0.05
"""Of each distribution, in the mean absolute error of a chunk: two ways that differ by less are learned as one."""
SPREAD = 0.3
"""Standard deviation of the noise on the weights of proposals that begin as copies, in parts of the weights' own."""


def mixture_error(errors: Tensor, logits: Tensor) -> Tensor:
    """Return the error (B,) of proposals: the mean absolute error where there is one, the mixture's where more.

    -SCALE * log sum_k p_k exp(-error_k / SCALE), which is the least error plus SCALE times what it costs to name it.

    Args:
        errors: (B, K) mean absolute error of each proposal.
        logits: (B, K) of their probabilities p.
    """
    return -SCALE * torch.logsumexp(torch.log_softmax(logits, 1) - errors / SCALE, 1)


def with_proposals(network: MiniNetwork, count: int) -> MiniNetwork:
    """Return a network with `count` proposals that begins with copies of another's only one, each a little different.

    Draws from torch's generator.
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
