"""The loop of the four stages, and the journal of what it decided."""
