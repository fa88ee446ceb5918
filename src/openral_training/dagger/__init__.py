"""Learning from corrections (DAgger): a policy acts, an operator takes over where it stands still, and it learns from it.

Read `config` (what a run is made of), `episode` (one attempt, with its take-over), `collection` (the episodes of a
round, and how they are recorded), `run` (the rounds).
"""
