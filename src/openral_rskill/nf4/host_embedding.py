"""An embedding whose table stays in the host's memory: a lookup reads a few rows of hundreds of megabytes."""

from __future__ import annotations

from torch import Tensor, nn


class HostEmbedding(nn.Module):
    """Looks up rows on the CPU and moves them to where the tokens are; bit for bit what `nn.Embedding` gives there.

    The table is no parameter, so that `Module.to` leaves it where it is.
    """

    def __init__(self, table: Tensor) -> None:
        """Keep a table (words, width) that is on the CPU; it may be mapped to a file."""
        super().__init__()
        self.table = table.detach()
        self.num_embeddings, self.embedding_dim = table.shape

    @property
    def weight(self) -> Tensor:
        """The table, under the name that transformers looks for when it ties weights."""
        return self.table

    def forward(self, tokens: Tensor) -> Tensor:
        """(...) tokens -> (..., width) on their device."""
        return nn.functional.embedding(tokens.cpu(), self.table).to(tokens.device)
