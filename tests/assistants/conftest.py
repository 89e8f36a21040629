"""The service as these tests call it."""

from tests.service.conftest import served

__all__ = ["served"]
