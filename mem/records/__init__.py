"""Rows as they travel: the export format, and the versions of a row as a merge sees them."""
