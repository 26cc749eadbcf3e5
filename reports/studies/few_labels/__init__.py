"""Few labels: heads selected from few labelled arcs, beside rules that learn from the same arcs."""
