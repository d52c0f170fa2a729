"""What an agent is told unasked: the context block, and the hooks of the hosts that carry it."""
