"""What a group's topics and its consumers' reports tell, window by window, as a stream from Kafka."""
