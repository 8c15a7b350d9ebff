"""Numbers in, numbers out: packing, queueing formulas, smoothing, and their compiled kernels."""
