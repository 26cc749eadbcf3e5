"""From word-level maps to accuracy and mass: alignment, the scorer, baselines and controls."""
