"""What weights and one text show of a head: its computation step by step, attention flow, cross-attention."""
