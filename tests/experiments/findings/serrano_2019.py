from tests.experiments.findings.jain_2019 import explained

PLANTED = {
    "serrano-most-attended": (explained(), explained(flips_random_alone=0.2)),
    "serrano-no-flip": (explained(), explained(flips_most_attended=0.6)),
    "serrano-orders": (explained(), explained(erased_at_random=0.4, erased_by_attention_and_gradient=0.6)),
}
