"""The command line: commands derived from the registry, and the one place that prints."""
