"""What is tried after a failed attempt, in which order, and how each way is prepared."""
