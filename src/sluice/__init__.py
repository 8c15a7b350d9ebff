"""Sluice: the fewest consumers that keep an event queue inside its latency objective."""

__version__ = "0.1.0"
