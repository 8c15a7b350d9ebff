"""The published evaluations, run again: one file a paper, its claims as data beside what measures them."""
