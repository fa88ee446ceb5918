"""Linear layers with 16-bit weights, float32 inputs and float32 outputs.

An action is sampled token by token from a cache and evaluated in one forward pass, in minibatches of another size. In
bf16 the order of sums makes a difference: with random weights, twelve layers and a width of 1024, log-probabilities
differ by 0.05 between the two, and between evaluations in minibatches of 4 and of 16. In float32 they agree within
1e-5, and ratios begin at 1. Every 16-bit weight is exact in float32, so the only additional memory is the float32 copy
of one weight at a time. GPUs may round the inputs of products to TF32 (10 bits of mantissa): emulated on a CPU, the
log-probabilities of the same model then differ by 0.002.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from openral_rskill.nf4.module_surgery import replace


class _Product(torch.autograd.Function):
    """x W^T with W in 16 bits; plain autograd would keep a float32 copy of every W until the backward pass."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(weight)
        return linear(inputs, weight.to(inputs.dtype))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        [weight], [gradient] = ctx.saved_tensors, gradients
        return gradient @ weight.to(gradient.dtype), None


class Float32Product(nn.Linear):
    """An `nn.Linear` with a frozen weight in 16 bits, float32 inputs and float32 outputs."""

    def __init__(self, linear: nn.Linear) -> None:
        """Share the weight of `linear`; its bias is converted to float32."""
        super().__init__(linear.in_features, linear.out_features, bias=False, device="meta")
        self.weight = nn.Parameter(linear.weight.detach(), requires_grad=False)
        self.bias = None if linear.bias is None else nn.Parameter(linear.bias.detach().float(), False)

    def forward(self, inputs: Tensor) -> Tensor:
        """(..., in_features) -> (..., out_features)"""
        made: Tensor = _Product.apply(inputs, self.weight)  # type: ignore[no-untyped-call]
        return made if self.bias is None else made + self.bias


def with_float32_products(model: nn.Module) -> nn.Module:
    """Return the model with its 16-bit linear layers replaced, and its other parameters in float32, all frozen.

    Where there are such layers, this process's products on GPUs are TF32 from then on.
    """
    for name, part in list(model.named_modules()):
        if type(part) is nn.Linear and part.weight.dtype in (torch.bfloat16, torch.float16):
            replace(model, name, Float32Product(part))
            torch.backends.cuda.matmul.allow_tf32 = True
    for part in model.modules():
        for name, value in part._parameters.items():
            if value is not None and not isinstance(part, Float32Product):
                part._parameters[name] = nn.Parameter(value.detach().float(), requires_grad=False)
    return model
