"""Behaviour: what the model does on minimal pairs."""
