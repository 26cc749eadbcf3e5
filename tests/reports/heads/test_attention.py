"""What a page holds of every head's attention is what the tables hold."""

import base64
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reports import Run
from reports.heads.attention import MOST_WORDS, AttentionView, attention_view
from reports.heads.card_parts import CardSource
from reports.run.sentence_attention import SentenceAttention


@pytest.fixture(scope="module")
def run(attended_run: Path) -> Run:
    return Run.open(attended_run)


def view(run: Run) -> AttentionView:
    found = attention_view(CardSource(run))
    assert found is not None
    return found


def test_keys_and_weights_are_those_of_every_head_with_the_special_tokens_last(run: Run):
    found = view(run)
    first = found.data["sentences"][0]
    bytes_ = np.frombuffer(base64.b64decode(first["weights"]), np.uint8).reshape(72, 5, first["keys"], 2)
    assert bytes_[2 * 12 + 4, 3].tolist() == [[2, 204], [5, 26]], "the previous word, and [CLS] after the five words"
    assert bytes_[0, 3].tolist() == [[6, 204], [5, 26]]
    assert found.kept == 2


def test_where_a_second_text_begins_is_in_the_data_of_pairs_alone(run: Run):
    assert run.attention is not None
    pair = run.attention.sentences.assign(second=[3, None])
    found = view(replace(run, attention=replace(run.attention, sentences=pair))).data["sentences"]
    assert [one.get("second") for one in found] == [3, None]
    assert not any("second" in one for one in view(run).data["sentences"])


def test_relations_are_those_that_were_scored_and_roles_point_to_them(run: Run):
    data = view(run).data
    det, obj = "from an article or other determiner to its noun", "from an object to its verb"
    assert data["relations"] == [f"dependency: {det}", f"dependency: {obj}"]
    assert [sentence["gold"] for sentence in data["sentences"]] == [{0: [0, 1, 3, 4]}, {1: [1, 0, 3, 0]}]
    assert data["relations"][data["roles"]["1-1"]] == f"dependency: {obj}"


def test_texts_that_are_too_long_are_counted_and_heads_that_are_not_there_have_no_weights(run: Run):
    assert run.attention is not None
    long, attention = run.attention.sentences.copy(), run.attention.attention
    long.at[1, "words"] = ["w"] * (MOST_WORDS + 1)
    some = SentenceAttention(long, run.attention.gold, attention[attention["name"] != "1-1"])
    found = view(replace(run, attention=some))
    assert (len(found.data["sentences"]), found.left_out) == (1, 1)
    assert not any(base64.b64decode(found.data["sentences"][0]["weights"])[: 5 * 2 * 2])
