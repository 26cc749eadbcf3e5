"""What states of words and sentences hold: geometry, linear probes of each layer, and how attention mixes them."""
