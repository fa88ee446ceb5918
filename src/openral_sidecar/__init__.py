"""Server processes in interpreters of their own, for models whose dependencies are pinned."""
