"""Policy families: the code that runs vision-language-action checkpoints, with a folder for each family."""
