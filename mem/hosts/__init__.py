"""The settings of the agents' hosts: where each keeps them, and how our hooks get in and out again."""
