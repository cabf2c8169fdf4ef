"""The real data of the tests of embeddings."""

from tests.unit.subspace.conftest import digits, wine  # noqa: F401 - fixtures
