"""A mission from its plan to its end: attempts, judgement, recovery, and what is written down."""
