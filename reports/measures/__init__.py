"""The measures that a run can have beside its scores, as reports see them."""
