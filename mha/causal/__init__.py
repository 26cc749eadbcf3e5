"""What a model does when heads are changed: ablations of every head, gates, pruning, direct effects."""
