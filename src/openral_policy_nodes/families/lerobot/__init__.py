"""LeRobot policies (SmolVLA, ACT, Diffusion, pi0, pi0.5, X-VLA), loaded from their checkpoints in a sidecar."""
