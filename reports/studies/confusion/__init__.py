"""Confusion: agreement among distractors."""
