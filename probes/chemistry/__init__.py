"""Reactions written as SMILES with maps of their atoms, and rules that map atoms without a model."""
