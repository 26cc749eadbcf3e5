"""What was done in a run, in words for an appendix, and where its numbers come from: its own settings and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Final

from reports.blocks.block import Block, Facts, Paragraph, TableBlock
from reports.formats import MISSING, count, duration, points, shape_text
from reports.measures.registry import measures
from reports.run.folder import RunFolder
from reports.run.record import CorpusFacts, ModelFacts, ReadTexts, RunRecord
from reports.scores.best_heads import BestHead
from reports.scores.controls import ComparedBaseline
from reports.scores.glossary import MAPS
from reports.scores.verdicts import Verdicts
from reports.tables.cells import TextColumn
from reports.tables.grades import REDRAWS, STABLE, grade_names
from reports.tables.marks import FEW_CLUSTERS
from reports.tables.text_table import TextTable


def _counted(name: str, row: tuple[str, str, ReadTexts]) -> str:
    return count(getattr(row[2], name))


SCORED: Final = (
    TextColumn("Split", itemgetter(0), "row"),
    TextColumn("Scope", itemgetter(1), "text"),
    *(TextColumn(name.capitalize(), partial(_counted, name)) for name in ("windows", "words", "pieces")),
    TextColumn("Unknown words", partial(_counted, "unknown")),
)

DROPPED: Final = (
    TextColumn("Split", lambda lost: lost.split, "row"),
    TextColumn("Scope", lambda lost: lost.scope, "text"),
    TextColumn("Reason", lambda lost: lost.reason, "text", "wrapping"),
    TextColumn("Count", lambda lost: count(lost.count)),
    TextColumn(*("For example", lambda lost: ", ".join(lost.examples), "text", "muted wrapping"), plain="examples"),
)


def coverage_tables(record: RunRecord) -> Iterator[Block]:
    """Yield what was scored, and what was dropped with the reason."""
    if scored := [(split, scope, read) for split, of in record.scored.items() for scope, read in of.items()]:
        yield TableBlock(TextTable.of("Coverage of the data", SCORED, scored), caption=False)
    dropped = TextTable.of("Dropped items, with the reason", DROPPED, record.dropped)
    yield TableBlock(dropped) if record.dropped else Paragraph("Nothing was dropped.")


def provenance_facts(run: RunFolder, maps: str) -> Facts:
    """Return what is known of where the numbers come from; `maps` is a key of `reports.scores.glossary.MAPS`."""
    record, model, memory = run.record, run.record.model, run.record.peak_memory_mb
    corpora = [
        (
            f"corpus ({split})",
            f"{corpus.name or MISSING}: {corpus.texts() or MISSING}, {count(corpus.documents)} documents, "
            f"{count(corpus.words)} words; fingerprint {corpus.fingerprint or MISSING}",
        )
        for split, corpus in record.corpora.items()
    ]
    facts = [
        ("run", run.name),
        ("headscope", record.headscope),
        ("started", record.started),
        ("model", f"{model.title or MISSING} ({model.weights}, {model.architecture or MISSING})"),
        ("model sha256", model.sha256),
        ("tokenizer sha256", model.tokenizer_sha256),
        ("revision on the hub", model.revision),
        ("longest input", f"{count(model.max_pieces)} pieces" if model.max_pieces is not None else None),
        *corpora,
        ("wall time", duration(record.wall_seconds)),
        ("resumed", f"parts taken: {len(record.resumed)}; times are of the last attempt" if record.resumed else None),
        ("read by workers", record.workers),
        ("stages", ", ".join(f"{name} {duration(took)}" for name, took in record.stages.items())),
        ("peak memory", f"{memory:,.0f} MB" if memory is not None else None),
        *((key, getattr(record, key)) for key in ("seed", "device", "threads", "python", "platform", "git_commit")),
        ("precision", ", ".join(f"{of} {precision}" for of, precision in record.precision.items())),
        ("maps", MAPS.get(maps, maps)),
        ("versions", ", ".join(f"{package} {version}" for package, version in sorted(record.versions.items()))),
    ]
    return Facts([(term.replace("_", " "), str(value)) for term, value in facts if value not in (None, "")])


READ: Final[Mapping[str, str]] = {
    "weights": "its attention weights after the softmax",
    "norms": "its attention weights times the length of the value that each carries behind the output projection "
    "(Kobayashi et al. 2020)",
    "rollout": "its attention weights times rollout through the layers below (Abnar and Zuidema 2020)",
}
"scoring.maps of a config -> what was read of a head."

REDUCED: Final[Mapping[str, str]] = {
    "mean": "attention from the word pieces of a word was averaged",
    "first": "of the word pieces of a word the first was taken as the one that attends",
}
"scoring.reduce of a config -> what was done with the pieces of a query."


def methods(
    run: RunFolder,
    config: Mapping[str, Any],
    rows: Sequence[BestHead],
    baselines: Sequence[ComparedBaseline],
    verdicts: Verdicts,
) -> tuple[tuple[str, str], ...]:
    """Return headings and sentences, a step each; `rows` are those of untrained heads, `config` is config.toml."""
    record = run.record
    told = [
        ("Model", [*_model(record.model), *_training(config)]),
        ("Corpora", [*_corpora(record)]),
        ("Maps of words", [*_maps(config["scoring"])]),
        ("Labels and scores", [*_questions(config, rows)]),
        ("Baselines", [*_rivals(baselines, control=False)]),
        ("Controls", [*_rivals(baselines, control=True), *_repeated(config)]),
        ("Intervals", [*_intervals(config)]),
        ("Tests and verdicts", [*_tests(verdicts)]),
    ]
    paragraphs = [(title, " ".join(said)) for title, said in told if said]
    return (*paragraphs, *(one for measure in measures() for one in measure.written(run, config)))


def _model(model: ModelFacts) -> Iterator[str]:
    if model != ModelFacts():
        sha256 = f"; sha256 of the weights {model.sha256}" if model.sha256 else ""
        yield (
            f"{model.title} ({model.weights}; architecture "
            f"{model.architecture}, {shape_text(model.layers, model.heads)}, inputs of at most "
            f"{count(model.max_pieces)} pieces{sha256})."
        )
        if model.layers and model.layers_of_weights and model.layers_of_weights < model.layers:
            yield (
                f"Its {model.layers} layers share {model.layers_of_weights} "
                f"set{'s' * (model.layers_of_weights > 1)} of weights: heads of one number are the same weights read "
                "at different depths, not independent finds."
            )


def _training(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield how the encoder was trained, where the run's config says so."""
    train = config.get("train")
    if not train or config["model"]["source"] != "train":
        return
    data = train["data"]
    length = f"{count(train['steps'])} steps" if "steps" in train else f"{count(train['tokens'])} pieces"
    seeds = ", ".join(map(str, train["seeds"]))
    shape = train.get("encoder", {})
    of = f"{shape_text(shape['layers'], shape['heads'])}, width {shape['model']}" if shape else "its own shape"
    yield (
        f"It was trained as a masked language model ({of}) on {data.get('name') or data.get('dataset') or 'own texts'} "
        f"for {length}: rows of {train['length']} pieces, {train['rows'] * train['accumulation']} a step, AdamW with a "
        f"learning rate of {train['learning_rate']:g}, warm-up over {train['warmup']} steps and {train['decay']} "
        f"decay, {points(train['masking']['rate'])} % of pieces to be predicted; "
        f"seed{'s' * (len(train['seeds']) > 1)} {seeds}."
    )


def _corpora(record: RunRecord) -> Iterator[str]:
    for split, verb, held_out in (("select", "selected", ""), ("report", "evaluated", "held out; ")):
        corpus = record.corpus(split)
        if corpus != CorpusFacts():
            units = {"documents": corpus.documents, "words": corpus.words}
            sizes = [
                corpus.texts() or "",
                *(f"{count(size)} {unit}" for unit, size in units.items() if size is not None),
            ]
            prints = f"; fingerprint {corpus.fingerprint}" if corpus.fingerprint else ""
            yield f"Heads were {verb} on {corpus.name} ({held_out}{', '.join(filter(None, sizes))}{prints})."
    number = sum(one.count for one in record.dropped)
    times = f"{count(number)} time{'s' * (number > 1)}, each for a counted reason"
    yield f"Items were dropped {times}; two parts of a run may drop the same." if number else "Nothing was dropped."


def _maps(scoring: Mapping[str, Any]) -> Iterator[str]:
    yield f"Of every head the run read {READ[scoring['maps']]}, through hooks, with the model in evaluation mode."
    yield (
        f"For word-level maps, attention to the word pieces of a word was summed, and {REDUCED[scoring['reduce']]} "
        "(Clark et al. 2019, section 4.1). Unless the direction says otherwise (all tokens, all words), special tokens "
        "and the word itself are not candidates; they keep their attention."
    )
    yield f"Probes that read beyond the sentence read windows of {scoring['window_words']} words."


def _questions(config: Mapping[str, Any], rows: Sequence[BestHead]) -> Iterator[str]:
    probes = config["probes"]
    labels, asked = count(len({(row.probe, row.label) for row in rows})), count(len(rows))
    yield (
        f"Probes: {', '.join(probes['names'])}. They have {labels} labels in {asked} label–direction pairs. A head is "
        "correct on a query where its most attended candidate is "
        "a correct one; candidates that are exactly equal count as a random choice among them would on average. For "
        "each pair the head with the highest accuracy on the selection split was selected, and is evaluated on the "
        "report split."
    )
    if probes["trained"]:
        yield (
            "In addition, a logistic regression on the two attention values of a pair of words was trained for every "
            f"head and relation, on {count(probes['trained_pairs'])} arcs a label and split at the most, beside a "
            "control task with random labels (Hewitt and Liang 2019)."
        )


def _rivals(baselines: Sequence[ComparedBaseline], *, control: bool) -> Iterator[str]:
    """Yield what heads were held against."""
    told = [f"{one.name} ({one.what})" if one.what else one.name for one in baselines if one.is_control == control]
    if told and not control:
        yield f"{'; '.join(told)}. Baselines that learn were fitted on the selection split."
    elif told:
        yield (
            f"{'; '.join(told)}. Models of a kind count by the accuracy that the best heads of 95 % of them stay "
            "below (mean and 1.645 standard deviations), word orders by their mean; half of the documents select a "
            "model's head and the other half scores it. Both have a standard error, for the models and for the "
            f"documents that they read. A grade is stable that holds in {100 * STABLE:g} % of {REDRAWS} draws of these "
            "models with replacement, else borderline."
        )
    elif control:
        yield "The run had no controls."


def _repeated(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many models the controls have."""
    controls = config["controls"]
    kinds = {"random": "randomly initialised models", "permuted": "permutations of the weights"}
    kinds |= {"orders": "word orders"}
    told = [f"{controls[key]} {what}" for key, what in kinds.items() if controls.get(key)]
    if told:
        yield f"{', '.join(told)}; each reads {count(controls['sample_words'])} words of the report split at the most."


def _intervals(config: Mapping[str, Any]) -> Iterator[str]:
    yield (
        "95 % intervals come from a regression of the documents' means on the logarithm of their length, weighted "
        "by length (sentences, where a corpus has no documents): errors leave one document out (CR3), with Student's t "
        "and Satterthwaite's degrees of freedom (Bell and McCaffrey 2002; Pustejovsky and Tipton 2018). For accuracies "
        "two hits and two misses were added (Agresti and Coull 1998), for either end of a lead one more item (after "
        f"Agresti and Min 2005). Below {FEW_CLUSTERS} effective documents they are rough (⚠)."
    )
    yield (
        f"Stability comes from {count(config['scoring']['replicates'])} bootstrap resamples of whole documents. Seed "
        f"{config['seed']}."
    )


def _tests(verdicts: Verdicts) -> Iterator[str]:
    margin, names = points(verdicts.rule.margin), grade_names(controlled=verdicts.rule.controlled)
    yield (
        f"That a head leads a baseline by more than {margin} points was tested by a one-sided t test from the same "
        "regression, with Hall's (1992) correction for skewness; against several baselines the largest p counts "
        "(Berger 1982). p was corrected over the heads of a label (Holm 1979) and over the labels of the run by "
        "Benjamini and Yekutieli 2001, heads being held to the selected share (Benjamini and Bogomolov 2014). The "
        "adjusted p is never below the chance that a sample of so many documents (effective number) has no document "
        "in which the head fails, if such documents were just frequent enough to bring the margin down to the "
        f"threshold. A head has a grade where the adjusted p is below {verdicts.rule.alpha:g} on the report split: 1 "
        f"{names[1]}, 2 {names[2]}, 3 {names[3]}, tested in this order."
    )
    yield (
        "The verdict on a label and direction is yes where some head has a grade, no where the upper 95 % bound of "
        f"every head's lead over all baselines{' and controls' * verdicts.rule.controlled} lies below {margin} "
        "points, and undecided otherwise."
    )
