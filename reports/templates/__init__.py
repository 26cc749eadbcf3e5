"""Templates, style sheets and scripts of the pages; a package so that they are installed with the code."""
