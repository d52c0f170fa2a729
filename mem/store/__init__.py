"""The store: one SQLite file, and the only place with SQL for its rows."""
