"""The planner that asks a language model; imported only where a model is configured."""
