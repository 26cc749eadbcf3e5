"""What a run measures of heads beside their scores: the form of a study, and one pass over a scope."""
