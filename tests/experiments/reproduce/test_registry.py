from experiments.reproduce.registry import all_findings, papers, select_findings


def test_files_of_one_paper_are_told_together():
    keys = [told.paper.key for told in papers()]
    assert len(set(keys)) == len(keys)
    michel = {finding.id for finding in select_findings(["michel-2019"])}
    assert {"michel-one-head", "michel-transfer"} <= michel
    assert all(name.startswith("michel-") for name in michel)


def test_papers_come_by_year():
    years = [told.paper.key.rpartition("-")[2] for told in papers()]
    assert years == sorted(years)


def test_enough_is_measured_of_enough_papers():
    found = all_findings()
    assert len(found) >= 45
    assert len(papers()) >= 15
    assert sum(not finding.missing for finding in found.values()) >= 30
