"""Any LeRobot policy (SmolVLA, ACT, Diffusion, pi0, pi0.5, X-VLA) from its checkpoint, in a sidecar of its own."""
