"""Benchmarks, each a command of make."""
