from tests.experiments.findings.planted import planted_run, scored


def _heads(lower: float, upper: float, baseline: float):
    rows = []
    for layer, accuracy in enumerate((lower, lower - 0.1, upper, upper - 0.1)):
        head = {"layer": layer, "accuracy": accuracy, "margin": accuracy - baseline, "baseline_accuracy": baseline}
        head["selected"] = accuracy == max(lower, upper)
        rows += [scored("dependency", "all", split=split, **head) for split in ("select", "report")]
    return {"trees": planted_run(rows)}


PLANTED = {"raganato-trees": (_heads(0.5, 0.4, 0.3), _heads(0.2, 0.35, 0.4))}
