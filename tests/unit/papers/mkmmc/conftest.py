"""The real data of the tests of embeddings."""

from tests.unit.subspace.conftest import wine  # noqa: F401 - a fixture
