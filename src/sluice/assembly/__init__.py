"""Picks classes from settings: the only place that does."""
