"""The one warm process of a store: it answers for thin clients, and holds the model for everyone."""
