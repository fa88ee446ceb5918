"""The `mini` reward family: a small progress and success model that runs on a CPU, in process."""
