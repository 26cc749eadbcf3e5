"""Statements with their numbers and verdicts: the pages of claims, findings and the sandbox."""
