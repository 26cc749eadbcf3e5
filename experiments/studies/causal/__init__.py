"""Studies of what a behaviour loses without heads."""
