"""The driver of a Panda of firmware 4.x, and the process in which libfranka runs for it."""
