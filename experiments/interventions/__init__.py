"""Claims about trainings that are changed on purpose: attention to syntax, fixed patterns, fewer heads."""
