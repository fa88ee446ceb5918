"""What the program says."""

from greeter.msg import Greeting


def greeting(name: str) -> Greeting:
    """A greeting for somebody."""
    return Greeting(words=f"Hello, {name}!")
