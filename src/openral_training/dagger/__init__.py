"""Learning from corrections (DAgger): where a policy stands still an operator takes over, and it learns from that.

Read `config` (what a run is made of), `episode` (one attempt, with its take-over), `collection` (the episodes of a
round, and how they are recorded), `run` (the rounds), `run_folder` (what is kept of them).
"""
