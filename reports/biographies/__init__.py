"""Training trajectories of heads, as a page shows them."""
