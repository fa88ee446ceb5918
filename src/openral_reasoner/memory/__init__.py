"""What the reasoner remembers of earlier missions."""
