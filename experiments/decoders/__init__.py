"""Experiments on decoders: our encoder where tokens attend to none after themselves."""
