from __future__ import annotations

import numpy as np
import pytest

from openral_core.errors import PolicyError
from openral_core.types import PolicyBatch
from openral_policy_nodes.fake import FakePolicy
from openral_policy_nodes.families.factory import load_policy

BATCH = PolicyBatch({}, np.zeros((2, 4), np.float32), ["a", "b"])


def test_family_of_the_manifest_is_loaded(make_skill):
    policy = load_policy(make_skill(action=[0.1, 0.2, 0.3, -1.0]))
    chunk = policy.predict(BATCH)
    assert isinstance(policy, FakePolicy)
    assert chunk.shape == (2, 16, 4)
    assert chunk.dtype == np.float32
    np.testing.assert_allclose(chunk[1, 7], [0.1, 0.2, 0.3, -1.0])


def test_unknown_family_lists_the_known_ones(make_skill):
    with pytest.raises(
        PolicyError, match=r"tests/rskill-fake-arm.*'telepathy'.*fake.*mini.*openral\.policy_families"
    ):
        load_policy(make_skill({"model_family": "telepathy"}))


def test_unknown_key_of_a_script_is_an_error(make_skill):
    with pytest.raises(PolicyError, match="policy_extras"):
        load_policy(make_skill(behavior="nan"))


@pytest.mark.parametrize(
    ("behaviour", "bad"),
    [("nan", lambda chunk: np.isnan(chunk).any()), ("wrong_shape", lambda chunk: chunk.shape == (2, 16, 3))],
)
def test_script_begins_after_the_good_calls(make_skill, behaviour, bad):
    policy = load_policy(make_skill(behaviour=behaviour, good_calls=1))
    assert not bad(policy.predict(BATCH))
    assert bad(policy.predict(BATCH))


def test_raising_policy_raises(make_skill):
    with pytest.raises(PolicyError, match="call 1"):
        load_policy(make_skill(behaviour="raise")).predict(BATCH)
