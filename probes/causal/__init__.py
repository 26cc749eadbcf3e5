"""What a behaviour loses without heads: ablation, importance, pruning, gates and patching."""
