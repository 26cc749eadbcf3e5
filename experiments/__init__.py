"""Wiring: configs, runs, the command line, and what `import headscope as hs` offers."""
