"""Safety checks of the commands of a real arm, one in each module; each may pass, slow or stop a motion."""
