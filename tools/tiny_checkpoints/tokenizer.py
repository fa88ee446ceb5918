"""A byte-level tokenizer, trained in code on a few sentences: no vocabulary has to be fetched."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

SENTENCES = (
    "open the drawer",
    "close the window",
    "press the button",
    "pick up the black bowl and place it on the plate",
    "What action should the robot take to push the puck to the goal?",
)


def make_tokenizer(
    specials: Sequence[str],
    *,
    named: dict[str, str] | None = None,
    vocabulary: int = 384,
    prefix: str | None = None,
    **tokens: str,
) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE tokenizer.

    Args:
        specials: tokens that get the first numbers, in this order.
        named: attribute -> token, kept by the tokenizer as `<attribute>_id` (SmolVLM's image tokens).
        vocabulary: how many tokens at most.
        prefix: a token put before every sentence, as LLaMA's `<s>` is.
        tokens: bos_token, eos_token, pad_token, unk_token.
    """
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(specials),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(SENTENCES, trainer)
    if prefix is not None:
        from tokenizers.processors import TemplateProcessing

        core.post_processor = TemplateProcessing(
            single=f"{prefix} $A", special_tokens=[(prefix, core.token_to_id(prefix))]
        )
    return PreTrainedTokenizerFast(tokenizer_object=core, extra_special_tokens=named or {}, **tokens)
