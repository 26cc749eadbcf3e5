"""Statements with a number, a rule and a verdict: what findings and claims are made of."""
