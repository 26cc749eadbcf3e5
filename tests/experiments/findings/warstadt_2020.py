from tests.experiments.findings.planted import decided, planted_run

PHENOMENA = ("subject_verb_agreement", "determiner_noun_agreement", "anaphor_agreement")

PARADIGMS = ("distractor_agreement_relational_noun", "distractor_agreement_relative_clause")


def _phenomena(accuracy: float):
    rows = [decided("blimp", accuracy, "phenomenon", phenomenon=name) for name in PHENOMENA]
    return {"constructions": planted_run(behaviour=[decided("blimp", accuracy), *rows])}


def _paradigms(accuracy: float):
    rows = [decided("blimp", accuracy, "paradigm", paradigm=name) for name in PARADIGMS]
    return {"constructions": planted_run(behaviour=rows)}


PLANTED = {
    "warstadt-phenomena": (_phenomena(0.75), _phenomena(0.45)),
    "warstadt-distractors": (_paradigms(0.6), _paradigms(0.3)),
}
