"""Policies x scenarios x parameters x seeds, over executors."""
