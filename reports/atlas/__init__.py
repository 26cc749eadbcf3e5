"""The page of an atlas: what heads do over models, corpora and seeds."""
