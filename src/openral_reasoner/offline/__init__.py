"""The offline planner: orders without a network and without a language model."""
