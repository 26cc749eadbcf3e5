"""What pages are made of: blocks, each of which is written in HTML and in Markdown."""
