"""What keeps the store true: who is let in, what is a duplicate, what replaces what."""
