"""Ablation: what a behaviour loses without heads."""
