"""Other programs' formats: one reader for each."""
