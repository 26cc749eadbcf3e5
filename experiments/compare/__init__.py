"""Many runs side by side: two or more compared, the three targets, and an atlas of models, corpora and seeds."""
