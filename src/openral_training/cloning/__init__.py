"""Parts of behaviour cloning, whose loop is in `openral_training.bc`: data, proposals, and steps as CUDA graphs."""
