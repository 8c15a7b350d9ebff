"""Short-horizon forecasts for each partition, trained and judged on the lake."""
