"""Every named corpus can be fetched or says why not."""

import re

import pooch
import pytest
import requests

from probes.corpora.line_reader import CorpusError
from probes.corpora.named import NAMED, data_folder
from probes.download.sources import sources
from probes.download.transfer import _same_protocol
from probes.pairs.corpora import NAMED_PAIRS
from probes.training.texts import NAMED_TEXTS


def test_every_named_corpus_has_pinned_files_or_a_reason() -> None:
    assert set(sources()) == {*NAMED, *NAMED_PAIRS, *NAMED_TEXTS}
    for source in sources().values():
        assert bool(source.files) != bool(source.by_hand), source.name
        assert source.address.startswith("https://")
        for file in source.files:
            assert re.match(r"https://raw\.githubusercontent\.com/[^/]+/[^/]+/[0-9a-f]{40}/", file.url)
        places = [f"{source.folder}/{file.name}" for file in source.files]
        assert source.by_hand or source.about.path in (*places, source.folder)


def test_the_files_at_hand_are_those_that_are_pinned() -> None:
    there = [
        (path, file)
        for source in sources().values()
        for file in source.files
        if (path := data_folder() / source.folder / file.name).is_file()
    ]
    if not there:
        pytest.skip("no named corpus under HEADSCOPE_DATA")
    assert [file.name for path, file in there if pooch.file_hash(str(path)) != file.sha256] == []


def test_a_redirect_away_from_https_is_refused() -> None:
    def answer(url: str) -> requests.Response:
        response = requests.Response()
        response.url = url
        return response

    there = answer("https://b.org/x")
    there.history = [answer("http://a.org/x")]
    with pytest.raises(CorpusError, match=r"https://a\.org/x: redirected to http://a\.org/x, which is not https"):
        _same_protocol("https://a.org/x", there)
    there.history = [answer("https://a.org/x")]
    _same_protocol("https://a.org/x", there)
