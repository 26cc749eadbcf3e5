"""Studies of maps and of heads beside each other."""
