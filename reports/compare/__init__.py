"""The page that compares two or more runs."""
