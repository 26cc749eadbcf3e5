"""Configs: the sections of a TOML file, checked and resolved."""
