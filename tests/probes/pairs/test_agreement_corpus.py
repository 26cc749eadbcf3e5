from collections import Counter
from pathlib import Path

import pytest

from probes.pairs.agreement_corpus import agreement_sentences
from probes.syntax.agreement import SubjectVerbAgreement

ANY = "attractor=any"


def test_sets_come_in_the_order_in_which_they_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path))
    (tmp_path / "opensesame").mkdir()
    lines = "the ship can sink\t2\t0 1\t\nthe boat can sink\t2\t0 1\t\n"
    (tmp_path / "opensesame" / "agr.0.tsv").write_text(lines, "utf-8")
    found = [one.id for one in agreement_sentences(["opensesame", "grammar"], first=1, documents=1, seed=3)]
    assert found[0] == "open-sesame: simple: ship"
    assert all(name.startswith("grammar: ") for name in found[1:])
    assert found[1:] == [one.id for one in agreement_sentences(["grammar"], documents=1, seed=3)] != []


@pytest.mark.usefixtures("data_folder")
def test_the_real_sets_have_a_thousand_items_with_attractors_of_at_least_five_constructions() -> None:
    probe, found = SubjectVerbAgreement(), Counter[str]()
    for document in agreement_sentences(["marvin-linzen", "opensesame"], first=150):
        (label,) = probe.targets(document)["verb->subject"].label
        if ANY in probe.pool(label):
            found[document.sentences[0].kind] += 1
    assert found.total() >= 1000
    assert len([kind for kind, count in found.items() if count >= 100]) >= 5
