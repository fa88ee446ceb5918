"""Real arms: their drivers (`ArmDriver`), the control loop's side of them, and simulated twins of their controllers."""
