"""The code that runs a vision-language-action checkpoint, one folder a family."""
