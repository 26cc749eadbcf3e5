"""Claims about training interventions: attention to syntax, fixed patterns, fewer heads."""
