"""Scores as a page reports them: best heads, verdicts, baselines and controls, effects, the glossary."""
