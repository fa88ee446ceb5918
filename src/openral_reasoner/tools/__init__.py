"""The tools of an agent: one table for a language model inside the reasoner and for clients outside it."""
