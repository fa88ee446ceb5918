"""The small detector: pictures of simulated scenes with true positions of things, training, and evaluation."""

import openral_sim_bridge  # noqa: F401  (chooses the OpenGL platform, before a module here imports mujoco)
