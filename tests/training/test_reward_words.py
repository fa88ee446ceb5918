"""What a reward model hears in training, and how often it sees each task."""

from __future__ import annotations

import numpy as np
import pytest
from test_reward_labels import RECIPE, HandWritten

from openral_core.sentence import SentenceEncoder
from openral_training import reward
from openral_training.bc import SentencePool
from openral_training.paraphrases import paraphrases
from openral_training.recipe import load_recipe


def test_orders_are_said_in_other_frames_and_wishes_as_they_are():
    found = paraphrases(["shut the door", "I want the door shut"], [])
    assert found[:2] == ["shut the door", "I want the door shut"]
    assert "please shut the door" in found
    assert not [sentence for sentence in found[2:] if "want the door shut" in sentence]


@pytest.mark.parametrize("name", ["mini_progress", "mini_progress_mt10", "mini_progress_robosuite"])
def test_no_paraphrase_is_a_sentence_that_judges(name: str):
    for words in load_recipe(name).tasks.values():
        judged = {sentence.lower() for sentence in words.heldout}
        assert not judged & {sentence.lower() for sentence in paraphrases(words.train, words.heldout)}
    assert paraphrases(["shut it"], ["Please shut it"]) == [
        sentence for sentence in paraphrases(["shut it"], []) if sentence != "please shut it"
    ]


def test_blended_words_lie_between_two_sentences_of_their_task():
    encoder = SentenceEncoder()
    heard = [["open the drawer", "pull the drawer out"], ["press the button"]]
    pool = SentencePool(heard, encoder)
    tasks = np.repeat([0, 1], 50)
    drawn = pool.draw(tasks, 0.0, np.random.default_rng(0), blended=1.0).numpy()
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1.0, atol=1e-5)
    ends = encoder.encode(heard[0])
    apart = float(ends[0] @ ends[1])
    nearness = drawn[:50] @ ends.T
    assert (nearness > apart - 1e-5).all(), "never farther from either than they are from each other"
    assert ((nearness.max(axis=1) < 0.999).sum()) > 10, "and not only at the ends"
    np.testing.assert_allclose(drawn[50:], np.repeat(encoder.encode(heard[1]), 50, axis=0), atol=1e-5)


def test_a_heavier_task_is_drawn_more_often():
    episodes = HandWritten([5, 5], ["expert", "expert"])
    task = np.repeat([0, 2], [7, 7])
    known = episodes.columns(["label.success", *reward.DISTANCES]) | {"task_index": task}
    known["label.success"][:, 2] = known["label.success"][:, 0]
    episodes.columns = lambda names: {name: known[name] for name in names}  # type: ignore[method-assign]
    tasks = {name: words.model_copy(update={"weight": 1.0}) for name, words in RECIPE.tasks.items()}
    tasks["press"] = tasks["press"].model_copy(update={"weight": 3.0})
    labels = reward.label(episodes, RECIPE.model_copy(update={"tasks": tasks}))
    rows, _ = reward.draw(labels, 4000, np.random.default_rng(0))
    assert np.mean(task[rows] == 2) == pytest.approx(0.75, abs=0.03)
