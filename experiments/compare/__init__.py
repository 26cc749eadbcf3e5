"""The comparison of two or more runs."""
