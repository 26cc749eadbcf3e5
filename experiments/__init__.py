"""Wiring: configs, runs, the command line. May import everything; nothing imports it."""
