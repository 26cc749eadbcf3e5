from tests.experiments.findings.planted import claimed

TEXT = "With so few texts there are no attention sinks"

PLANTED = {"gu-little-data": (claimed("claim-induction", {TEXT: 0.002}), claimed("claim-induction", {TEXT: 0.2}))}
