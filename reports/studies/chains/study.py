"""What reports hold of coreference chains: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.chains.section import CHAIN_TERMS, chains
from reports.studies.chains.tables import CHAIN_TABLES

STUDY: Final = StudyReport(
    CHAIN_TABLES,
    ReportSection("chains", "Coreference chains", chains, CHAIN_TERMS),
    (
        Method(
            ("chains",),
            "Coreference chains",
            "chains",
            "In at most {texts} windows of each split every mention was linked to the preceding mention to whose head "
            "word a head attends most, and links were joined into chains. Mentions were given. A link needs an "
            "attention that was learned on the selection split, where the head was selected too, by the CoNLL average; "
            "rules learned how far they reach there. Chains were cut to windows, gold and predicted ones alike, and "
            "scored by MUC (Vilain et al. 1995), B-cubed (Bagga and Baldwin 1998) and CEAF (Luo 2005). Intervals are "
            "those of a bootstrap over documents.",
        ),
    ),
)
