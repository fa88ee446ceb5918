"""Real arms behind `ArmDriver`: drivers that speak to them, what leads them, and twins that answer in their place."""
