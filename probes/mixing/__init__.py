"""How much attention mixes: effective attention, attention beside the residual, and states that become alike."""
