"""The view of attention on given texts, and a head explained step by step."""
