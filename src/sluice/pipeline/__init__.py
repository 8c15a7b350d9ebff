"""Bulk work on Spark: DataFrame in, DataFrame out."""
