"""What a notebook shows of a run: tables, charts and cards."""
