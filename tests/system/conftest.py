"""What the tests of the folders below share: the helpers beside this file, and two deployments.

Each is started for the first test that asks for it, and ended after the last, since it takes half a core as it runs.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pytest

from openral_reasoner.llm.fakes import Endpoint

HERE = Path(__file__).parent
sys.path.append(str(HERE))

from system_files import write_bare_scene, write_scene, write_skill  # noqa: E402  they lie in this folder
from system_operator import Operator  # noqa: E402
from system_order import put_first  # noqa: E402
from system_stack import Stack  # noqa: E402
from system_thinking import Thinking, thoughtful  # noqa: E402


def drawer_scene(folder: Path) -> Path:
    """The drawer's own scene; a reasoner that is started again goes on without a question."""
    return write_scene(folder, resume="always")


def faulty_scene(folder: Path) -> Path:
    """The drawer with a good and two faulty skills, and nobody who gives it a mission."""
    left = [0.1, 0.0, 0.0, -1.0]
    skills = [
        write_skill(folder, "good", action=left),
        write_skill(folder, "nan", behaviour="nan", good_calls=10, action=left),
        write_skill(folder, "misshapen", behaviour="wrong_shape", good_calls=10, action=left),
    ]
    return write_bare_scene(folder, skills=skills)


class Shared:
    """One deployment, by `ros2 launch` and until Ctrl-C, with its operator."""

    def __init__(self, scene: Callable[[Path], Path], *slugs: str, thinks: bool = False) -> None:
        self._scene, self._slugs, self._thinks = scene, slugs, thinks
        self._open = contextlib.ExitStack()
        self._running: tuple[Stack, Operator] | None = None
        self.endpoint: Endpoint | None = None
        """Of the language model that its reasoner asks and that never comes to an end of its thinking."""

    def get(self, folder: Path) -> tuple[Stack, Operator]:
        """Return it, with its skills active; start it in a folder where it does not run."""
        if self._running is None or not self._running[0].running:
            self._open.close()
            words = (f"scene:={self._scene(folder)}", "exit_when_done:=false", f"run_dir:={folder / 'run'}")
            command = ("ros2", "launch", "openral", "deploy_sim.launch.py", *words)
            model: dict[str, str] = {}
            if self._thinks:
                self.endpoint, model = self._open.enter_context(thoughtful())
            with mock.patch.dict("os.environ", model):
                stack = self._open.enter_context(Stack(folder, *command))
            self._running = (stack, self._open.enter_context(Operator(stack)))
            self._running[1].until_active(*self._slugs)
        return self._running

    def end(self) -> None:
        """End it, and see that it ends well."""
        if self._running is None:
            return
        (stack, _), self._running = self._running, None
        with self._open:
            before = stack.errors
            stack.interrupt()
            assert stack.wait() == 0, stack.output
            assert stack.errors == before


SHARED = {
    "drawer": Shared(drawer_scene, "mini_metaworld"),
    "faulty": Shared(faulty_scene, "good", "nan", "misshapen", thinks=True),
}
"""By the fixture that gives it."""


def uses(item: pytest.Item | None, fixture: str) -> bool:
    """Whether a test of these folders uses a fixture."""
    return item is not None and HERE in item.path.parents and fixture in getattr(item, "fixturenames", ())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put those that share a deployment first: it does not run beside the others."""
    for fixture in reversed(SHARED):
        put_first(items, HERE, lambda item, fixture=fixture: uses(item, fixture))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """End what is shared after the last test that uses it."""
    try:
        return (yield)
    finally:
        for fixture, shared in SHARED.items():
            if not uses(nextitem, fixture):
                shared.end()


@pytest.fixture
def drawer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stack, Operator]:
    """A deployment of the drawer's scene, which has begun with the scene's own mission."""
    return SHARED["drawer"].get(tmp_path_factory.mktemp("drawer"))


@pytest.fixture
def faulty(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stack, Operator]:
    """A deployment with the skills `good`, `nan` and `misshapen`, without motions, monitor and missions."""
    return SHARED["faulty"].get(tmp_path_factory.mktemp("faulty"))


@pytest.fixture
def deliberating(faulty: tuple[Stack, Operator]) -> Thinking:
    """The deployment `faulty`, whose language model thinks for ever about what it is asked."""
    stack, operator = faulty
    endpoint = SHARED["faulty"].endpoint
    assert endpoint is not None
    return Thinking(stack, operator, endpoint, "good")
