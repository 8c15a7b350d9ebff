"""Raw logs in, workloads out: events by partition, in the order of time."""
