import dataclasses
import math
from typing import Any

import pandas as pd

from reports.run.needed_items import NeededItems
from reports.run.record import RunRecord
from reports.scores.best_heads import BestHead, best_heads, probes
from reports.scores.summary import leader_sentence, summarise
from reports.scores.verdicts import Finds, RunThresholds, Verdicts, find_all

BARE = RunRecord()
NOTHING = Verdicts(RunThresholds(), None, (), controlled=True)


def row(label: str, low: float, high: float, clusters: int = 50, **more: Any) -> BestHead:
    middle, nan = (low + high) / 2, math.nan
    row = {field.name: nan for field in dataclasses.fields(BestHead)}
    row |= {"probe": "dependency", "label": label, "variant": "v", "name": "1-1", "layer": 0, "head": 0, "n": 9}
    row |= {"clusters": clusters, "accuracy": middle, "baseline": "offset", "baseline_accuracy": 0.0, "margin": middle}
    row |= {"margin_low": low, "margin_high": high, "lexical_accuracy": 0.3, "near_ties": 0, "p_adjusted": 0.5}
    row |= {"stability": 0.9, "specialised": False, "beyond_lexical": False, "beyond_rules": False}
    row |= {"rule": "", "others": ()}
    return BestHead(**(row | more))


def said(rows: tuple[BestHead, ...], verdicts: Verdicts = NOTHING) -> str:
    return " ".join(summarise({"dependency": rows}, BARE, verdicts, 6, 12).sentences)


def test_the_summary_counts_what_lies_above_below_and_between():
    rows = (row("a", 0.1, 0.3), row("b", -0.3, -0.1), row("c", -0.1, 0.3), row("few", 0.5, 0.9, clusters=19))
    text = said(rows)
    assert "In 2 of 4 pairs with a baseline" in text
    assert "in 1 below it; the other 1 are undecided" in text
    assert "fewer than 20 clusters, and are marked ⚠: 1" in text
    assert [leader.label for leader in summarise({"dependency": rows}, BARE, NOTHING, 6, 12).leaders] == [
        "a",
        "c",
    ]


def test_the_summary_answers_first_which_heads_specialise_in_what(scores: pd.DataFrame):
    best = {probe: best_heads(scores, probe) for probe in probes(scores)}
    finds = find_all(scores)
    sentences = summarise(best, BARE, Verdicts(RunThresholds(0.01), None, finds, controlled=True), 6, 12).sentences
    named = {(one.probe, one.label, one.variant): one.name for rows in best.values() for one in rows}
    obj, det = (named["dependency", label, "dependent->head"] for label in ("obj", "det"))
    vocative = named["dependency", "vocative", "head<-dependent"]
    in_dependency = {"1-1", "1-2", "1-3", "1-4", "2-2", obj, det, vocative}
    agreement, pronoun = named["agreement", "all", "verb->subject"], named["coreference", "pronoun", "all words"]
    heads = in_dependency | {agreement, pronoun}
    assert sentences[0] == (
        "Labels with at least one specialised head: 5 of 28 tested, in 6 of their 65 label–variant pairs "
        "(position 0 of 5, dependency 4 of 42, agreement 1 of 10, coreference 1 of 8)."
    )
    assert sentences[1] == (
        f"Heads that are specialised in at least one label: {len(heads)} of 72 "
        f"(position 0, dependency {len(in_dependency)}, agreement 2, coreference 1)."
    )
    assert sentences[2] == (
        f"Beyond the lexical table: 2 of the 5 pairs with a specialised head and such a table, by 2 heads: "
        f"{det} in det (dependent->head), {agreement} in all (verb->subject)."
    )
    assert sentences[3] == (
        f"Beyond the rules of grammar: 2 of the 5 pairs with a specialised head and such a rule, by 2 heads: "
        f"{obj} in obj (dependent->head), {agreement} in all (verb->subject)."
    )
    assert "adjusted p is below 0.01, on average at most 1 % have one by chance (" in sentences[4]
    assert "the best again in 92.5 % of resamples of the selection split (median; lowest 60.0 %)" in sentences[4]
    assert "above the lexical table" not in " ".join(sentences)


def test_only_a_few_heads_beyond_the_table_are_named():
    beyond = tuple((f"1-{i}", "obj", "v") for i in range(1, 6))
    find = Finds("dependency", 1, 1, 1, 1, 1, frozenset(name for name, _, _ in beyond), beyond)
    text = said((row("obj", 0.1, 0.3),), Verdicts(RunThresholds(), None, (find,), controlled=True))
    assert "such a rule" not in text, "there is none"
    assert "1 of the 1 pairs with a specialised head and such a table, by 5 heads: 1-1 in obj (v), " in text
    assert "1-3 in obj (v), +2." in text


def test_without_a_find_nothing_is_said_about_the_table_or_stability():
    find = Finds("dependency", 4, 3, 0, 0, 0, frozenset(), ())
    text = said((row("a", 0.1, 0.3),), Verdicts(RunThresholds(), None, (find,), controlled=True))
    assert "0 of 3 tested, in 0 of their 4 label–variant pairs (dependency 0 of 4)" in text
    assert "Beyond" not in text
    assert "How sure" not in text
    assert "No label has a baseline to be tested against" in said((row("a", 0.1, 0.3),))


def test_leaders_are_specialised_heads_whatever_the_margins_of_others():
    rows = (row("large", 0.5, 0.9), row("small", 0.1, 0.3, specialised=True, p_adjusted=0.0123))
    leaders = summarise({"dependency": rows}, BARE, NOTHING, 6, 12).leaders
    assert [leader.label for leader in leaders] == ["small"]
    assert [leader.label for leader in summarise({"dependency": rows[:1]}, BARE, NOTHING, 6, 12).leaders] == ["large"]
    assert leader_sentence(leaders[0]).endswith("; specialised (adjusted p = 0.012, stability 90.0 %)")
    assert leader_sentence(row("b", 0.5, 0.9, p_adjusted=0.0002)).endswith("(adjusted p < 0.001, stability 90.0 %)")


def test_small_labels_are_counted_where_the_run_knows_how_many_words_it_takes():
    rows = (row("a", 0.1, 0.3, n=139), row("b", 0.1, 0.3, n=140), row("none", 0.1, 0.3, n=0))
    design = NeededItems(0.2, 0.8, 140)
    assert "and marked †: 1. To be called specialised in 80 % of runs" in said(
        rows, dataclasses.replace(NOTHING, design=design)
    )
    assert "†" not in said(rows)
    assert "†" not in said(rows[1:], dataclasses.replace(NOTHING, design=design))
