"""Answers of a hub that are JSON of another form than a hub's."""

from __future__ import annotations

import io
import json
import math
from urllib.request import OpenerDirector

import pytest

from openral_core.errors import HubError
from openral_rskill.hub.client import HubClient
from openral_rskill.store.repo_id import HubReference


@pytest.mark.parametrize(
    "answer",
    [
        [],
        [{"id": "a/rskill-b", "tags": [1]}],
        [{"id": "a/rskill-b", "downloads": math.inf}],
        {"sha": "0" * 40, "siblings": [{"rfilename": "a", "size": math.inf}]},
        {"sha": "0" * 40, "siblings": [{"rfilename": "a", "lfs": [1]}]},
        {"sha": "0" * 40, "siblings": {"a": 1}},
    ],
)
def test_json_of_another_form_is_one_error(monkeypatch: pytest.MonkeyPatch, answer: object) -> None:
    client = HubClient({})
    text = json.dumps(answer).encode()
    monkeypatch.setattr(OpenerDirector, "open", lambda *_, **__: io.BytesIO(text))
    with pytest.raises(HubError, match="is HF_ENDPOINT a hub"):
        client.listing(HubReference("maker/rskill-example"))
    if answer:
        with pytest.raises(HubError, match="is HF_ENDPOINT a hub"):
            client.search("", 10)
