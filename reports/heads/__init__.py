"""What a page says of each head: its card, its place in the grid, its attention on examples."""
