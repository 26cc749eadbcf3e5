"""Studies that train something on heads or ask what was trained."""
