"""The server and the corpus that are fetched from in the tests of probes.download."""

from tests.probes.download.conftest import data, made, server

__all__ = ["data", "made", "server"]
