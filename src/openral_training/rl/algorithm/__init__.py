"""PPO and GRPO: advantages, losses, and the update."""
