from experiments.findings.clark_2019.rows import NOTEBOOK, TABLE
from tests.experiments.findings.planted import all_arcs, planted_run, scored, shaped

LAYERS, HEADS = 6, 2


def _relations(rows, margin: float, level: float):
    """Return heads of all rows with a margin, and with another in the row of noun compounds."""
    return {
        "trees": planted_run(
            [
                scored(row.probe, row.label, variant=row.variants[0], margin=level if row.relation == "nn" else margin)
                for row in rows
            ]
        )
    }


def _directions(there: float, back: float):
    rows = [
        scored("dependency", row.label, variant=variant, margin=margin)
        for row in TABLE
        if row.probe == "dependency"
        for variant, margin in (("dependent->head", there), ("head<-dependent", back))
    ]
    return {"trees": planted_run(rows)}


def _baselines(passive: float, copula: float):
    both = (("aux:pass", passive), ("cop", copula))
    return {"trees": planted_run([scored("dependency", label, baseline_accuracy=value) for label, value in both])}


def _mentions(margin: float):
    labels = ("all", "pronoun", "proper", "nominal")
    candidates = ("preceding mention heads", "all mention heads", "all words")
    return {
        "coreference": planted_run(
            [scored("coreference", label, variant=way, margin=margin) for label in labels for way in candidates]
        )
    }


def _parsers(**uas: float):
    asked = (
        ("next word (right-branching)", "none", 0.32),
        ("distances + words", "none", 0.48),
        ("attention", "trained", uas["attention"]),
        ("attention + words", "trained", uas["words"]),
        ("attention + words", "random", uas["fresh"]),
    )
    rows = [
        {"parser": name, "weights": weights, "uas": value, "ci_low": value - 0.01, "ci_high": value + 0.01, "n": 900}
        for name, weights, value in asked
    ]
    return {"classifiers": planted_run(parser=rows)}


def _distances(within: float, between: float, p: float):
    contrast = {"what": "maps", "weights": "own", "within": within, "between": between, "p": p}
    places = [{"layer": layer, "x": 0.1 * layer, "y": 0.2} for layer in range(LAYERS)]
    return {"trees": planted_run(contrasts=[contrast, contrast | {"weights": "random", "p": 1.0}], places=places)}


def _maps(kind: str, measures, even: float = 4.6):
    """Return shapes of all heads in windows; of each measure a value a layer, from the first."""
    rows = [
        shaped(kind, measure, layer, head, value, scope="window", even=even)
        for measure, values in measures.items()
        for layer, value in enumerate(values)
        for head in range(HEADS)
    ]
    return rows


def _shapes(*parts):
    return {"coreference": planted_run(shapes=[row for part in parts for row in part])}


def _separators(sep: float, itself: float):
    layers = {"[SEP]": (0.0, 0.0, sep, sep, sep, 0.0), "[SEP] from [SEP]": (0.0, 0.0, *[itself] * 3, 0.0)}
    return _shapes(_maps("attention", layers | {"[CLS]": (0.3,) * LAYERS, "period or comma": (0.1,) * LAYERS}))


def _depth(cls, signs):
    return _shapes(_maps("attention", {"[CLS]": cls, "period or comma": signs, "[SEP]": (0.1,) * LAYERS}))


def _positional(previous, following):
    return _shapes(_maps("offset", {"-1": previous, "+1": following}))


def _broad(entropy):
    return _shapes(_maps("entropy", {"all tokens": entropy, "[CLS]": entropy}))


def _slopes(sep: float):
    """Return slopes that are alike in the first layers, and at [SEP] so many times those at words from there on."""
    rows = [
        {"behaviour": "sentence embedding", "token": token, "layer": layer, "slope": slope, "n": 200}
        | {"ci_low": 0.98 * slope, "ci_high": 1.02 * slope}
        for layer in range(LAYERS)
        for token, times in (("[CLS]", 1.0), ("[SEP]", sep if layer > 1 else 1.0), ("other", 1.0))
        for slope in (0.01 * times,)
    ]
    return {"effects": planted_run(slopes=rows)}


NOTHING = (0.1,) * LAYERS

PLANTED = {
    "clark-relations": (_relations(TABLE, 0.5, 0.0), _relations(TABLE, -0.1, 0.3)),
    "clark-more-relations": (_relations(NOTEBOOK, 0.5, 0.0), _relations(NOTEBOOK, -0.1, 0.0)),
    "clark-auxpass": (_baselines(0.80, 0.40), _baselines(0.40, 0.80)),
    "clark-direction": (_directions(0.3, 0.1), _directions(0.1, 0.3)),
    "clark-no-parse": (all_arcs(0.05), all_arcs(0.4)),
    "clark-coreference": (_mentions(0.3), _mentions(-0.1)),
    "clark-parser": (
        _parsers(attention=0.75, words=0.80, fresh=0.16),
        _parsers(attention=0.20, words=0.21, fresh=0.30),
    ),
    "clark-clusters": (_distances(0.1, 0.2, 0.002), _distances(0.2, 0.1, 0.002)),
    "clark-no-op": (_slopes(0.1), _slopes(0.9)),
    "clark-separators": (_separators(0.7, 0.95), _separators(0.3, 0.5)),
    "clark-depth": (
        _depth((0.4, 0.3, 0.1, 0.1, 0.1, 0.1), (0.1, 0.1, 0.1, 0.1, 0.2, 0.3)),
        _depth((0.1, 0.1, 0.4, 0.4, 0.2, 0.1), (0.3, 0.1, 0.1, 0.1, 0.1, 0.1)),
    ),
    "clark-positional": (
        _positional((0.9, 0.9, 0.9, 0.1, 0.1, 0.1), (0.1, 0.7, 0.1, 0.6, 0.1, 0.1)),
        _positional(NOTHING, NOTHING),
    ),
    "clark-itself": (
        _shapes(_maps("offset", {"0": (0.05,) * 5 + (0.3,)})),
        _shapes(_maps("offset", {"0": (0.3,) * 6})),
    ),
    "clark-broad": (_broad((4.0, 3.0, 2.0, 3.0, 3.0, 3.0)), _broad((2.0, 3.0, 3.0, 3.0, 3.0, 3.0))),
    "clark-cls-broad": (_broad((2.0, 2.0, 2.0, 2.0, 2.0, 3.7)), _broad((3.0,) * 5 + (1.0,))),
}
