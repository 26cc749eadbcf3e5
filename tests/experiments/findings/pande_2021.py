from tests.experiments.findings.planted import planted_run, shaped

HEADS = 40

SIEVES = ("local", "delimiter", "block", "syntactic")


def _sieves(roles: int, *, value: float = 4.0, p: float = 0.001, other: float = 0.999):
    """Return heads of which the first so many have the roles of all sieves, with a p, and the others none."""
    rows = [
        shaped("sieve", sieve, 0, head, value if has else 0.5, scope="window", p=p if has else other)
        for sieve in SIEVES
        for head in range(HEADS)
        for has in (head < roles,)
    ]
    for row in rows:
        row["p_adjusted"] = row["p"]
    return {"coreference": planted_run(shapes=rows)}


PLANTED = {
    "pande-several-roles": (_sieves(30), _sieves(5)),
    "pande-p-values": (_sieves(20), _sieves(20, p=0.3, other=0.6)),
    "pande-local": (_sieves(36), _sieves(20)),
}
