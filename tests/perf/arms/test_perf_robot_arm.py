"""What the way to a real arm costs: filter and kinematics in each step, the stop, and the stream to the twin."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import mujoco
import numpy as np
import pytest

from openral_control.safety.joint_limits import limits_of
from openral_control.safety.make_filter import make_filter
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_core.scene_arm import SafetyLimits, SceneArm
from openral_robot_bridge.mujoco_geometry import MujocoGeometry
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.process_main import HostSettings
from openral_sim_bridge.backends.mjcf.control import make_control
from openral_sim_bridge.backends.mjcf.world import CompiledScene

START = np.array([0.0, 0.21, 0.0, -2.33, 0.0, 2.54, 0.785398])
STEPS, STOPS, STREAM_S = 2000, 50, 20.0
FORWARDS = 40
"""Times that the physics of the same scene is computed beside each step, as a measure of the machine."""
LIMITS = limits_of(load_robot("fr3"))


def test_filter_and_kinematics(report) -> None:
    scene = load_scene("fr3_tabletop")
    assert scene.arm is not None
    compiled = CompiledScene(scene, load_robot("fr3"))
    guard = make_filter(
        scene.arm.safety, LIMITS, MujocoGeometry(compiled, elbow_joint=3), scene.workspace, scene.dt
    )
    control, data = make_control(scene.action, compiled.robot, scene.dt), mujoco.MjData(compiled.model)
    data.qpos[compiled.robot.chain.qpos] = START
    mujoco.mj_kinematics(compiled.model, data)
    control.restart(data)
    guard.restart(START)
    rng, actions, measured = np.random.default_rng(0), np.zeros(6), START
    spent = {"filter": np.zeros(STEPS), "kinematics": np.zeros(STEPS)}
    forward, beside = np.zeros(STEPS), mujoco.MjData(compiled.model)
    for step in range(STEPS):
        if step % 20 == 0:
            actions = rng.uniform(-0.5, 0.5, 6)
        began = time.thread_time()
        control.aim(data, actions)
        between = time.thread_time()
        led = guard.led
        safe = guard.next(np.array(control.joints), measured, np.zeros(7), 0.0)
        spent["filter"][step] = time.thread_time() - between
        spent["kinematics"][step] = between - began
        measured = led  # an arm that is a control step late
        data.qpos[compiled.robot.chain.qpos] = safe.positions
        mujoco.mj_kinematics(compiled.model, data)
        began = time.thread_time()
        for _ in range(FORWARDS):  # what this machine takes for the same amount of work in each step
            mujoco.mj_forward(compiled.model, beside)
        forward[step] = time.thread_time() - began
    both = spent["filter"] + spent["kinematics"]
    p50, p99 = np.percentile(both, [50, 99]) * 1e3
    parts = ", ".join(f"{name} {np.median(times) * 1e3:.2f} ms" for name, times in spent.items())
    report(
        "a step of a real arm: kinematics and safety filter, CPU time",
        f"p50 {p50:.2f} ms, p99 {p99:.2f} ms",
        f"medians: {parts}; {FORWARDS} times mj_forward {np.median(forward) * 1e3:.2f} ms",
        "p99 1 ms",
    )
    assert np.median(both) < 3.0 * np.median(forward)


def test_stop_to_the_first_slower_target(report) -> None:
    section = SceneArm(driver="fake", address="arm", safety=SafetyLimits(command_timeout_s=5.0))
    arm = ArmProcess(HostSettings(section, LIMITS, START))
    try:
        delays, asked = [], []
        for _ in range(STOPS):
            began = arm.read().positions
            towards = np.eye(7)[0] * (-1.0 if began[0] > 0 else 1.0)
            arm.lead(began + towards, np.zeros(7), 0.05)
            while abs(arm.read().velocities[0]) < 0.8:
                time.sleep(0.001)
            since = time.monotonic()
            arm.read()
            asked.append(time.monotonic() - since)
            speed, since = abs(arm.read().velocities[0]), time.monotonic()
            arm.halt()
            while (now := abs(arm.read().velocities[0])) >= speed:
                speed = now
            delays.append(time.monotonic() - since)
            while abs(arm.read().velocities[0]) > 1e-6:
                time.sleep(0.001)
            arm.release()
            time.sleep(0.05)
    finally:
        arm.close()
    p50, p99 = np.percentile(delays, [50, 99]) * 1e3
    report(
        "stop of a real arm -> first slower target, two processes",
        f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, n = {STOPS}",
        f"one question and answer: median {np.median(asked) * 1e3:.1f} ms",
        "p99 20 ms",
    )


def test_the_stream_to_the_twin(report) -> None:
    pytest.importorskip("franky")
    address = "127.77.0.1"
    command = [Path(sys.executable).with_name("openral"), "robot", "twin", "--address", address]
    twin = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    assert twin.stdin is not None
    assert twin.stdout is not None
    try:
        assert twin.stdout.readline().startswith("ready")
        arm = ArmProcess(HostSettings(SceneArm(driver="franka", address=address), LIMITS, START))
        rates, errors, began = [], [], time.monotonic()
        target = START.copy()
        while time.monotonic() - began < STREAM_S:
            target[0] = 0.3 * np.sin(time.monotonic() - began)
            state = arm.lead(target, np.zeros(7), 0.05)
            rates.append(state.success_rate)
            errors.append(abs(state.positions[0] - target[0]))
            time.sleep(0.05)
        mode = arm.read()
        arm.close()
    finally:
        twin.kill()
        twin.communicate()
    report(
        f"libfranka streaming at 1 kHz to the twin for {STREAM_S:g} s",
        f"commands in time: mean {100 * np.mean(rates):.2f} %, least {100 * min(rates):.0f} % of a hundred",
        f"joint 1 behind its target: median {np.median(errors):.3f} rad; ends {mode.mode.value}",
        "100 %",
    )
