"""The page on agreement, coreference and position: which head, which grade, what rivals reach, what it costs."""
