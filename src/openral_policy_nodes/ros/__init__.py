"""The policy node: one skill behind the action `skills/<slug>/execute`."""
