"""Scenarios, comparisons and reports."""
