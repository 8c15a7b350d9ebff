"""What runs inside a consumer."""
