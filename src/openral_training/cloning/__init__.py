"""The parts of behaviour cloning beside its loop in `openral_training.bc`: data, proposals, recorded steps."""
