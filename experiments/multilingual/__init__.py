"""Experiments on one encoder of several languages, whose treebanks hold the same sentences."""
