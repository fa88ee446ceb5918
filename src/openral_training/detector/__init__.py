"""The small detector: images of simulated scenes with true object positions, training, and evaluation."""

import openral_sim_bridge  # noqa: F401  (chooses the OpenGL platform, before a module here imports mujoco)
