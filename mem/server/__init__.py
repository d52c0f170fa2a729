"""The operations over MCP, derived from the same registry as the command line."""
