"""Finding memories: by words, by meaning, by time, and being silent when nothing fits."""
