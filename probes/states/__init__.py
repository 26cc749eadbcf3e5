"""What the states of words and sentences hold: their geometry, and what linear probes of each layer find in them."""
