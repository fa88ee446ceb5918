"""`openral deploy` and `openral demo`: start a deployment, give it a mission, and report the outcome."""
