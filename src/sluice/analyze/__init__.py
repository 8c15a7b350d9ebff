"""Analyze: a snapshot and what came before it in, a workload out."""
