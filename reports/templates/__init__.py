"""What all pages share: frame, tables, charts, their style sheets and scripts; and how templates are found."""
