from pathlib import Path

import pytest

from experiments.claims.run.registry import CLAIMS, load_claim
from experiments.claims.trained import TrainedSection
from experiments.config.config import ConfigError
from experiments.reproduce.readings import CLAIM_FOLDERS
from reports.statements.claim_page import ORDER

CONFIGS = Path(__file__).parents[3] / "experiments" / "configs"
TEXTBOOK = sorted((CONFIGS / "claims").glob("*.toml"))
SHIPPED = [path for folder in CLAIM_FOLDERS for path in sorted((CONFIGS / folder).glob("*.toml"))]


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def test_every_claim_has_one_config_of_its_name_and_a_place_on_the_page() -> None:
    assert {path.stem: load_claim(path).claim.name for path in SHIPPED} == {name: name for name in CLAIMS}
    assert tuple(CLAIMS) == ORDER


def test_claims_that_share_trainings_say_the_same_of_them() -> None:
    sections = [load_claim(path).section for path in TEXTBOOK]
    trained = [section for section in sections if isinstance(section, TrainedSection)]
    assert len(trained) == 4
    assert len({section.train.model_dump_json() for section in trained}) == 1
    assert {section.trainings for section in trained if section.claim != "heads"} == {"heads"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rounds = 3", r"mine.toml: 'claim' is missing, .* the claims are heads, compute"),
        ('claim = "lop"', r"mine.toml: unknown claim 'lop'; did you mean 'loop'\?"),
        ('claim = "gravity"', r"unknown claim 'gravity'; known are heads, compute"),
        ('claim = "loop"\nrouns = 3', r"unknown key 'rouns'; did you mean 'rounds'\?"),
        ('claim = "loop"\nrounds = 0', r"mine.toml: rounds: Input should be greater than or equal to 1"),
        ('claim = "loop"\nname = "../up"', r"mine.toml: name: String should match pattern"),
        ('claim = "mixing"', r"mine.toml: 'train' is missing"),
        (
            'claim = "compute"\nsimilar = [2, 3]',
            r"similar: expected a number below 1 and one above it, got \[2.0, 3.0\]",
        ),
        ('claim = "averaging"\nwidths = [7]', "expected even sizes"),
        ('claim = "averaging"\nsets = [40]', "two of 40 do not fit into 16 items"),
    ],
)
def test_a_config_that_is_none_is_refused_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_claim(write(tmp_path, text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("heads", "compare=[1, 3]", "compare: 3 heads are not among"),
        ("heads", "train.encoder.model=30", "heads do not divide a model of size 30"),
        ("heads", "train.seeds=[0]", "an interval takes two seeds or more"),
        ("mixing", "train.encoder.norm='pre'", "measured on post-norm encoders"),
    ],
)
def test_a_change_with_which_nothing_could_be_compared_is_refused(name: str, change: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_claim(CONFIGS / "claims" / f"{name}.toml", [change])
