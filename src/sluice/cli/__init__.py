"""The command line: one file per verb; parsing and exit codes only."""
