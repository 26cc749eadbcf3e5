"""The pages of many runs: comparisons, the three targets, and atlases."""
