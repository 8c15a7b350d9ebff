"""What a user writes in TOML, checked; picks no classes and runs nothing."""
