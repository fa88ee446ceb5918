"""The small detector: pictures of the simulators' scenes with true places, training, and evaluation."""

import openral_sim_bridge  # noqa: F401  (chooses the OpenGL platform, before a module here imports mujoco)
