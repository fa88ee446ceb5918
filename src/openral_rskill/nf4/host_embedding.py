"""An embedding whose table stays in the host's memory, since a lookup reads a few rows of hundreds of megabytes."""

from __future__ import annotations

from torch import Tensor, nn


class HostEmbedding(nn.Module):
    """Looks up rows on the CPU and moves them to the tokens' device; the result is the same as of `nn.Embedding`.

    The table is not a parameter, so that `Module.to` does not move it.
    """

    def __init__(self, table: Tensor) -> None:
        """Take a table (words, width) on the CPU, which may be mapped to a file."""
        super().__init__()
        self.table = table.detach()
        self.num_embeddings, self.embedding_dim = table.shape

    @property
    def weight(self) -> Tensor:
        """The table, under the name that transformers uses for tying weights."""
        return self.table

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the embeddings (..., width) of tokens (...), on the tokens' device."""
        return nn.functional.embedding(tokens.cpu(), self.table).to(tokens.device)
