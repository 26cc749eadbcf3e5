"""Probes about words: position, repetition, rarity, sense and coreference."""
