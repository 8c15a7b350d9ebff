"""Exact latency of every event of a run, by consumer, at any size."""
