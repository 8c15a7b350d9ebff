"""Observe: a world in, snapshots out."""
