"""`make mutants` takes minutes and is run seldom: that it still finds what it breaks is looked at always."""

import pytest

from tests.mutants import FILES, PACKAGE, list_mutants


@pytest.mark.parametrize("name", FILES)
def test_there_is_something_to_break_in_every_file(name: str) -> None:
    """A name that nothing is called any more would be left unbroken, and nobody would know."""
    assert next(list_mutants((PACKAGE / name).read_text("utf-8"), FILES[name]), None) is not None


def test_a_name_that_is_gone_is_an_error() -> None:
    with pytest.raises(LookupError, match="nothing to break is called gone"):
        list(list_mutants("here = 1", ("gone",)))
