"""From a deployment to the maker of its agents; the language model's code is imported only if one is configured."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from openral_core.errors import InstallationError
from openral_core.files.user_path import user_path
from openral_reasoner.deployment import Deployment
from openral_reasoner.memory.notes_file import Memory
from openral_reasoner.mission.agent_requests import RequestQueue
from openral_reasoner.mission.planning_service import Agent, MakeAgent


def agent_maker(
    deployment: Deployment,
    memory_file: str = "",
    locates: Callable[[], bool] = lambda: False,
    environment: Mapping[str, str] = os.environ,
) -> tuple[str, MakeAgent] | None:
    """Return the model's name and a function that makes the agent of one mission; None: no model is configured.

    Args:
        deployment: its `reasoner` section.
        memory_file: where notes are kept; empty: the model keeps none.
        locates: whether something in the graph answers where a thing is; asked in the agent's thread.
        environment: whose OPENRAL_REASONER_* go before that section, and which holds the key.

    Raises:
        OpenralError: the section is wrong, a key is missing, or the client is not installed.
    """
    from openral_reasoner.llm.settings import model_settings

    settings = model_settings(deployment.reasoner, environment)
    if settings is None:
        return None
    try:
        from openral_reasoner.llm.agent import MissionAgent
        from openral_reasoner.llm.models import build_model
    except ImportError as error:
        raise InstallationError(
            f"{settings.model}: {error.name} is not installed: pip install 'openral[reasoner]'"
        ) from error
    build_model(settings, environment)  # what is missing is found out here, and not in the first mission
    memory = Memory(user_path(memory_file)) if memory_file else None
    cameras = [camera.name for camera in deployment.cameras]

    def make(requests: RequestQueue) -> Agent:
        return MissionAgent(
            lambda: build_model(settings, environment),
            settings,
            requests,
            memory=memory,
            cameras=cameras,
            locates=locates(),
        )

    return settings.model, make
