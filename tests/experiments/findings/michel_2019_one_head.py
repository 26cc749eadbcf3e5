from tests.experiments.findings.planted import planted_run

QUESTIONS = 200


def _left(right: int):
    """All questions are right with all heads; with head 2 of a layer `right` of 100 are, with the others none."""
    answers = [{"text": text, "answer": "plural", "log_odds": 1.0} for text in range(QUESTIONS)]
    rows = [
        {"text": text, "layer": layer, "head": head, "name": f"{layer + 1}-{head + 1}"}
        | {"log_odds": 1.0 if head == 1 and text // 2 % 100 < right else -1.0}
        for text in range(QUESTIONS)
        for layer in range(12)
        for head in range(3)
    ]
    return {"fine-tuned": planted_run(answers=answers, one_head=rows)}


PLANTED = {"michel-one-head": (_left(100), _left(60))}
