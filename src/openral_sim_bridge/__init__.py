"""Simulators behind one Backend interface, and the only process that moves a simulated arm."""

import os
import sys

if sys.platform == "linux":
    # mujoco picks its OpenGL platform once, when it is imported. Everything here renders off screen, which EGL
    # does with and without a display, while the default (GLFW) fails without one. MUJOCO_GL, when set, wins.
    os.environ.setdefault("MUJOCO_GL", "egl")
