"""The page on agreement, coreference and position: which head, which grade, what baselines reach, what it costs."""
