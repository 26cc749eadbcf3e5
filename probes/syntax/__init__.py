"""Probes about syntax: dependencies, agreement, clauses, negation and time."""
