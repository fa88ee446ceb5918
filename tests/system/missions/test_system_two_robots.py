"""Two whole deployments in one domain: a mission in one namespace is no matter of the other, and so are its stops."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest
from system_files import write_scene
from system_operator import Operator
from system_stack import Stack

pytestmark = pytest.mark.long
SLUG, SECOND = "mini_metaworld", "/arm2"


def test_missions_and_stops_stay_with_the_robot_that_they_are_of(tmp_path):
    scene = write_scene(tmp_path, reward_skill=None, mission=None)
    words = ("deploy_sim.launch.py", f"scene:={scene}", "exit_when_done:=false")
    with ExitStack() as stacks:
        start = ("ros2", "launch", "openral", *words)
        first_stack = stacks.enter_context(
            Stack(tmp_path / "one", *start, f"run_dir:={tmp_path / 'one/run'}")
        )
        beside = (*start, f"namespace:={SECOND}", f"run_dir:={tmp_path / 'two/run'}")
        second_stack = stacks.enter_context(Stack(tmp_path / "two", *beside, domain=first_stack.domain))
        first = stacks.enter_context(Operator(first_stack))
        second = stacks.enter_context(Operator(second_stack, SECOND))
        for operator in (first, second):
            operator.until_active(SLUG)
        assert second.skills[SLUG].node == f"{SECOND}/policy/{SLUG}"
        assert second.skills[SLUG].action_server == f"{SECOND}/skills/{SLUG}/execute"

        second.say("open the drawer")
        second.until_moving()
        assert not first.missions or first.missions[-1].state == "idle"
        first.assert_holding()
        assert first.status[-1].executed == 0

        listed = first_stack.beside("openral", "fleet", "list", "--json")
        rows = {row["namespace"]: row for row in json.loads(listed.stdout)}
        assert rows[SECOND]["mission"] == "open the drawer"
        assert rows["/openral"]["mission"] == ""

        # Words of stop reach the skills of their own robot.
        second.until(lambda: second.missions[-1].state in ("done", "failed"), "the end of the first mission")
        for operator, task in ((first, "open the drawer"), (second, "close the drawer")):
            operator.say(task)
            operator.until_moving()
        first_stack.beside("openral", "prompt", "stop", "--namespace", SECOND)
        second.until(lambda: second.missions[-1].state == "stopped", "the second robot's stop")
        assert first.missions[-1].state == "active"

        # The emergency stop: of one, then of all.
        assert first_stack.beside("openral", "fleet", "stop", SECOND).returncode == 0
        second.until(lambda: second.status[-1].estopped, "the second robot's emergency stop")
        assert not first.status[-1].estopped
        every = first_stack.beside("openral", "fleet", "stop")
        assert every.returncode == 0, every.stdout
        first.until(lambda: first.status[-1].estopped, "the first robot's emergency stop")
        for stack in (first_stack, second_stack):
            stack.interrupt()
            assert stack.wait() == 0, stack.output
