"""More ways to say a training sentence: orders in other frames of politeness and address.

They widen what a model hears of each order without naming anything new. The frames are those of everyday requests;
none of them is taken from the sentences that judge, and a paraphrase that is one of these all the same is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

FORMS = (
    "please {}",
    "{} please",
    "can you {}",
    "could you please {}",
    "{} for me",
    "go ahead and {}",
    "now {}",
    "next, {}",
    "I want you to {}",
    "your task is to {}",
    "robot, {}",
    "try to {}",
    "make sure to {}",
    "help me to {}",
)
"""Frames of an order in the imperative."""
NO_ORDER = ("please", "can", "could", "the", "i", "let", "it", "keep")
"""First words of training sentences that do not begin with an imperative, so that no frame fits them."""


def paraphrases(train: Sequence[str], heldout: Sequence[str]) -> list[str]:
    """Return the training sentences, and each order among them in every one of FORMS, without those that judge.

    Args:
        train: sentences of one task.
        heldout: sentences that are only ever used to judge.
    """
    orders = [sentence for sentence in train if sentence.split()[0].lower() not in NO_ORDER]
    said = [*train, *(form.format(order) for order in orders for form in FORMS)]
    judged = {sentence.lower() for sentence in heldout}
    return [sentence for sentence in dict.fromkeys(said) if sentence.lower() not in judged]
