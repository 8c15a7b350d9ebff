"""The second world: virtual time, every event."""
