"""Probes that are trained: classifiers, parsers and codes, each beside a control task."""
