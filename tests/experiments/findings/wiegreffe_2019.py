from tests.experiments.findings.jain_2019 import explained

PLANTED = {
    "wiegreffe-uniform": (explained(), explained(accuracy_uniform_attention=0.95)),
    "wiegreffe-guide": (explained(), explained(accuracy_guided_trained=0.7)),
}
