"""A scenario in real time: a real broker, real consumer processes, and the simulator's prediction beside it."""
