"""What a run measures of heads beside their scores, one folder a study."""
