"""Charts for the page and figures for papers."""
