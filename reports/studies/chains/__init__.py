"""Chains: coreference chains that single heads link, beside those of rules."""
