from experiments.findings.voita_2019 import RELATIONS
from tests.experiments.findings.planted import planted_run, scored, shaped


def _syntax(argument: float, modifier: float):
    margins = {"nsubj": argument, "obj": argument, "amod": modifier, "advmod": modifier}
    rows = [scored("dependency", label, variant=way, margin=margins[label]) for label, way, *_ in RELATIONS.values()]
    return {"trees": planted_run(rows)}


def _rare(first: float, other: float):
    """Plant a head of layer 1 and one of layer 2, of which the better one is chosen."""
    rows = []
    for label in ("rarest", "two rarest"):
        for layer, accuracy in enumerate((first, other)):
            head = {"variant": "other words", "layer": layer, "accuracy": accuracy, "selected": accuracy >= 0.4}
            rows += [scored("rare", label, split=split, **head) for split in ("select", "report")]
    return {"trees": planted_run(rows)}


def _positional(confidence: float, accuracy: float = 0.97, head: int = 1):
    rows = [
        scored("position", label, split=split, variant="other words", head=place, accuracy=accuracy if place else 0.2)
        for split in ("select", "report")
        for label in ("previous", "next")
        for place in (0, 1)
    ]
    shapes = [shaped("confidence", "without [SEP]", 0, place, confidence if place == head else 0.3) for place in (0, 1)]
    return {"trees": planted_run(rows, shapes=shapes)}


PLANTED = {
    "voita-syntax": (_syntax(0.3, 0.05), _syntax(0.02, 0.2)),
    "voita-rare": (_rare(0.7, 0.3), _rare(0.2, 0.45)),
    "voita-positional": (_positional(0.9), _positional(0.9, accuracy=0.5)),
}
