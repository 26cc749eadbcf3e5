"""What a section of a run's page consists of, and what reports hold of a study."""
