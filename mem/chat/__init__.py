"""The language models that the user has set up, for what is done outside every write: compress, extract."""
