"""Execute: a plan in, a receipt out."""
