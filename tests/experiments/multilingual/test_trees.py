from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from experiments.multilingual import tree_measures, trees
from experiments.multilingual.tree_measures import PERMUTED, RANDOM, TRAINED, LanguageTreesSection
from experiments.multilingual.trees import (
    agreement,
    reliability,
    statements,
)
from experiments.statements.claim import Work
from tests.experiments.findings.planted import rules_in

LANGUAGES = ["A", "B", "C"]

SELECT = {"A": [0.2, 0.6, 0.1, 0.0], "B": [0.7, 0.3, 0.2, 0.1], "C": [0.1, 0.8, 0.3, 0.2]}
REPORT = {"A": [0.3, 0.5, 0.1, 0.0], "B": [0.6, 0.4, 0.2, 0.1], "C": [0.2, 0.7, 0.4, 0.1]}
FAR = {"far select": [0.4, 0.3, 0.2, 0.1], "far report": [0.4, 0.3, 0.2, 0.1]}

ONE = {
    language: {"select": SELECT[language], "report": REPORT[language], "row": row, **FAR}
    for language, row in zip(LANGUAGES, (0.4, 0.5, 0.3), strict=True)
}


def test_agreement_is_the_mean_rank_correlation_of_far_arcs_with_the_other_languages() -> None:
    # far arcs of A in ranks: 3, 4, 2, 1; those selected of B 4, 3, 2, 1 (rho 0.8), of C 1, 4, 3, 2 (rho 0.4)
    one = {language: {"far select": SELECT[language], "far report": REPORT[language]} for language in LANGUAGES}
    assert agreement(one, "A") == pytest.approx((0.8 + 0.4) / 2)
    assert agreement(ONE, "A") == pytest.approx(1.0)
    assert reliability(one, "C") == pytest.approx(0.8)


def found(trained: Sequence[float], untrained: Sequence[float], moved: float, own: float) -> tuple[Any, Any]:
    def heads(shares: Sequence[float], jitter: float) -> dict[str, Any]:
        shifted = [share + jitter for share in shares]
        far = {"far select": shifted, "far report": shifted}
        return {language: {"select": shifted, "report": shifted, "row": 0.4, **far} for language in LANGUAGES}

    def projections(other: float, same: float) -> dict[str, Any]:
        shifts = {language: 0.001 * place for place, language in enumerate(LANGUAGES)}
        pairs = {
            language: {to: (same if to == language else other) + shift for to, shift in shifts.items()}
            for language in LANGUAGES
        }
        return {"pairs": pairs, "together": {language: other + shift for language, shift in shifts.items()}}

    kinds = {TRAINED: {0: heads(trained, 0.0)}}
    kinds |= {kind: {seed: heads(untrained, 0.01 * seed) for seed in range(3)} for kind in (RANDOM, PERMUTED)}
    transfer = {TRAINED: {0: projections(moved, own)}}
    transfer |= {kind: {seed: projections(0.42, 0.45) for seed in range(3)} for kind in (RANDOM, PERMUTED)}
    return kinds, transfer


def mixed(heads: Any) -> Any:
    """Return untrained heads whose order differs from language to language."""
    for one in (heads[RANDOM], heads[PERMUTED]):
        for languages in one.values():
            for turn, language in enumerate(LANGUAGES):
                for part in ("select", "report", "far select", "far report"):
                    shares = languages[language][part]
                    languages[language][part] = shares[turn:] + shares[:turn]
    return heads


def test_all_hold_where_heads_and_projections_carry_over() -> None:
    heads, transfer = found([0.3, 0.6, 0.5], [0.3, 0.35, 0.32], moved=0.6, own=0.62)
    verdicts = [one.verdict for one in statements(mixed(heads), transfer, LANGUAGES)]
    assert verdicts == ["holds"] * 8


def test_none_holds_where_position_and_untrained_weights_do_as_well() -> None:
    heads, transfer = found([0.3, 0.35, 0.32], [0.3, 0.45, 0.4], moved=0.39, own=0.45)
    verdicts = [one.verdict for one in statements(heads, transfer, LANGUAGES)]
    assert set(verdicts) == {"does not hold"}


def test_every_kind_of_weights_reads_every_language(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int, str]] = []

    def opened(section: LanguageTreesSection, kind: str, seed: int) -> SimpleNamespace:
        return SimpleNamespace(kind=kind, seed=seed, layers=2, heads=1)

    def read(section: LanguageTreesSection, model: SimpleNamespace, treebank: str) -> dict[str, Any]:
        asked.append((model.kind, model.seed, treebank))
        far = {"far select": [0.1, 0.2], "far report": [0.1, 0.2]}
        return {"select": [0.2, 0.5 + 0.01 * len(asked)], "report": [0.2, 0.5], "row": 0.3, **far}

    def transferred(section: LanguageTreesSection, model: Any, *, together: bool) -> dict[str, Any]:
        pairs = {language: {other: 0.5 + 0.1 * (other == language) for other in "ABC"} for language in "ABC"}
        return {"pairs": pairs} | ({"together": dict.fromkeys("ABC", 0.5)} if together else {})

    monkeypatch.setattr(trees, "opened", opened)
    monkeypatch.setattr(trees, "read_language", read)
    monkeypatch.setattr(trees, "transferred", transferred)
    section = LanguageTreesSection.model_validate(
        {"claim": "language-trees", "model": "m", "treebanks": {"A": "a", "B": "b", "C": "c"}, "seeds": (4, 5)}
    )
    result = trees.measure(section, work)
    kinds = [(TRAINED, 0), (RANDOM, 4), (RANDOM, 5), (PERMUTED, 4), (PERMUTED, 5)]
    assert asked == [(*kind, treebank) for kind in kinds for treebank in "abc"]
    heads = ", ".join(f"{language} 2-1 (50.0 % of arcs, words in a row 30.0)" for language in "ABC")
    assert result.noticed == [f"Selected heads: {heads}."]
    rows = next(one for one in result.measures if one.name == "arcs that projected states attach").rows
    assert {row.condition for row in rows if row.repeat == 1} == {
        "words in a row",
        *(f"{kind}, learned in {what}" for kind in (TRAINED, RANDOM, PERMUTED) for what in (trees.OWN, trees.OTHER)),
        f"trained, learned in {trees.TOGETHER}",
    }


@pytest.mark.slow
def test_a_projection_learned_on_one_half_is_evaluated_on_the_other(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_DATA", str(data_folder))
    treebanks = {"English": "pud-english", "German": "pud-german", "Spanish": "pud-spanish"}
    section = LanguageTreesSection.model_validate(
        {"claim": "language-trees", "model": "minilm", "treebanks": treebanks, "sentences": 15, "layer": 3}
    )
    model = tree_measures.opened(section, TRAINED, 0)
    one = tree_measures.read_language(section, model, "pud-english")
    assert len(one["select"]) == len(one["far report"]) == 72
    assert max(one["far report"]) < max(one["report"])
    assert 0.3 < one["row"] < 0.6
    assert max(one["report"]) > one["row"] - 0.1
    moved = tree_measures.transferred(section, model, together=True)
    assert {language: [*shares] for language, shares in moved["pairs"].items()} == {
        language: [*treebanks] for language in treebanks
    }
    english = moved["pairs"]["English"]
    assert english["English"] > english["German"]  # the model knows no German
    assert moved["together"]["English"] < english["English"]


def test_the_sentences_of_findings_stand_in_the_claim() -> None:
    told = {one.text: one.rule for one in statements(*found([0.3, 0.6], [0.3, 0.4], moved=0.5, own=0.6), LANGUAGES)}
    for opening, rule in rules_in("language-trees").items():
        assert [told[text] for text in told if text.startswith(opening)] == [rule]
