"""Plan: a workload in, a plan out. Pure: no clock, no I/O, no hidden state."""
