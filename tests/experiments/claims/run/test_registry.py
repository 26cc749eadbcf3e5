from pathlib import Path

import pytest

from experiments.claims.run.registry import CLAIMS, load_claim
from experiments.claims.trained import TrainedSection
from experiments.config.config import ConfigError
from experiments.reproduce.readings import CLAIM_FOLDERS
from reports.claims.page import ORDER

CONFIGS = Path(__file__).parents[4] / "experiments" / "configs"
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


def test_a_claim_says_what_it_is_after() -> None:
    for claim in CLAIMS.values():
        assert claim.sentence.endswith(".")
        assert "et al." in claim.source
        assert claim.about
        assert claim.limits


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
    ],
)
def test_a_config_that_is_none_is_refused_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_claim(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_changes_are_made_and_told(tmp_path: Path) -> None:
    loaded = load_claim(write(tmp_path, 'claim = "loop"'), ["rounds=4", "name=other"])
    assert (loaded.section.model_dump()["rounds"], loaded.section.folder, loaded.changes) == (
        4,
        "other",
        ("rounds=4", "name=other"),
    )
    assert load_claim(write(tmp_path, 'claim = "loop"')).section.folder == "loop"
