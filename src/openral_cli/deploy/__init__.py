"""`openral deploy` and `openral demo`: start a deployment, give it a mission, report what came of it."""
