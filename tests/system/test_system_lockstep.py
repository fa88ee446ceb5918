"""In lockstep the world waits for the policy: the same initial state gives the same bytes, however busy the machine."""

from __future__ import annotations

from contextlib import ExitStack

from system_files import load_truth, write_scene
from system_operator import Operator
from system_stack import Stack

DEADLINE = 3
STEPS = 100


def test_two_lockstep_runs_give_identical_joint_states(tmp_path):
    scene = write_scene(tmp_path, reward_skill=None, mission=None)
    words = ("deploy_sim.launch.py", f"scene:={scene}", "mode:=lockstep")
    with ExitStack() as stacks:  # side by side, so that each disturbs the other's timing
        folders = [tmp_path / name for name in ("one", "two")]
        runs = [
            stacks.enter_context(Stack(folder, "ros2", "launch", "openral", *words, f"run_dir:={folder}"))
            for folder in folders
        ]
        operators = [stacks.enter_context(Operator(stack)) for stack in runs]
        for operator in operators:
            operator.until_active("mini_metaworld")
        ends = [operator.run_skill("mini_metaworld", "open the drawer", 2.0) for operator in operators]
        results = [end() for end in ends]
        assert [result.outcome for result in results] == [DEADLINE] * 2
        for stack in runs:
            stack.interrupt()
            assert stack.wait() == 0, stack.output
    one, two = (load_truth(folder) for folder in folders)
    length = min(len(one["qpos"]), len(two["qpos"]))
    assert length >= STEPS
    assert not one["held"][:STEPS].any()
    for name in ("stamp_s", "qpos", "mocap_pos", "action", "held", "success"):
        assert one[name][:length].tobytes() == two[name][:length].tobytes(), name
