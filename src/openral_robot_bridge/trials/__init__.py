"""A skill tried again and again on the twin of an arm, through the whole deployment."""
