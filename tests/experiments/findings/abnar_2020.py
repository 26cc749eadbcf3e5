from tests.experiments.findings.planted import planted_run

TEXTS = 30


def _flows(first: float, raw: float, followed: float):
    """Rho of raw attention in the first layer and in the others, and of rollout and flow in all, with some noise."""
    rows = [
        {"text": text, "layer": layer, "measure": measure, "against": against, "rho": rho + 0.05 * (-1) ** text}
        for text in range(TEXTS)
        for layer in range(6)
        for measure in ("weights", "rollout", "flow")
        for against in ("blank-out", "gradients")
        for rho in ((first if layer == 0 else raw) if measure == "weights" else followed,)
    ]
    return {"verb-number": planted_run(flows=rows)}


def _answers(right: int):
    rows = [{"text": i, "answer": "plural", "log_odds": 1.0 if i < right else -1.0} for i in range(200)]
    return {"verb-number": planted_run(answers=rows)}


HOLDS, FAILS = _flows(0.6, 0.1, 0.5), _flows(-0.1, 0.4, -0.3)

PLANTED = {
    "abnar-verb-number": (_answers(198), _answers(100)),
    **{f"abnar-{what}-{against}": (HOLDS, FAILS) for what in ("raw", "flow") for against in ("blank-out", "gradients")},
}
