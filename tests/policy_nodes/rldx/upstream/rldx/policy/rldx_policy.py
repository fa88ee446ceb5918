"""Imported before the loader, as upstream does."""

from openral_policy_nodes.families.rldx.conformance_model import ConformanceModel
from openral_policy_nodes.families.rldx.conformance_wrapper import ConformanceWrapper as RLDXSimPolicyWrapper
from rldx.policy import policy_loader


class RLDXPolicy(ConformanceModel):
    def __init__(self, model_path, device, strict):
        super().__init__((-6, -4, -2, 0), strict=strict)
        self.model = policy_loader.load(model_path, device)


__all__ = ["RLDXPolicy", "RLDXSimPolicyWrapper"]
