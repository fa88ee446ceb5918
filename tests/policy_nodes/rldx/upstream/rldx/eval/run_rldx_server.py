"""Upstream's command line, as far as facts and its documentation say; tyro's booleans are argparse's."""

import argparse

from rldx.policy.rldx_policy import RLDXPolicy, RLDXSimPolicyWrapper
from rldx.policy.server_client import PolicyServer

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, default in (("model-path", None), ("embodiment-tag", "GENERAL_EMBODIMENT"), ("device", "cuda")):
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=5555)
    parser.add_argument("--strict", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--use-sim-policy-wrapper", action=argparse.BooleanOptionalAction, default=False)
    config = parser.parse_args()
    policy = RLDXPolicy(config.model_path, config.device, config.strict)
    print("upstream", config.model_path, config.embodiment_tag, policy.model, flush=True)
    if config.use_sim_policy_wrapper:
        policy = RLDXSimPolicyWrapper(policy, strict=config.strict)
    PolicyServer(policy=policy, host=config.host, port=config.port).run()
