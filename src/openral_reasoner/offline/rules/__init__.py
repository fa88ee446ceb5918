"""Rules for English orders: clauses, verbs, idioms, and which task of which skill they mean."""
