from reports.run.needed_items import NeededItems


def test_a_design_marks_labels_with_fewer_words_and_says_why():
    design = NeededItems(margin=0.2, power=0.8, items=1400, documents=30, source="sandbox")
    assert [design.marks(n, 30) for n in (0, 1, 1399, 1400)] == [False, True, True, False]
    assert design.marks(1400, 29)
    assert design.said == (
        "To be called specialised in 80 % of runs, a head that is really 20 percentage points above its baselines "
        "takes 1,400 scored words in 30 documents (sandbox); a label that has less is marked †, and a missing verdict "
        "there says little."
    )
