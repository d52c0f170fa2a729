"""One local file of memory for every coding agent: facts that stay true, found by meaning, offline."""

__version__ = "0.3.0"
