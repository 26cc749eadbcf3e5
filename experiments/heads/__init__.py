"""Commands about single heads and texts: view, explain, flow, match, export."""
