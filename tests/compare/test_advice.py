"""What is advised beside a verdict: only what can work."""

import pytest

from tests.compare.columns import column, decided, spread

OLD, NEW = [4.0 - 0.5 * (place % 2) for place in range(24)], [4.5 - 0.25 * (place % 3) for place in range(24)]
LEVELS = (-2.0, 0.0, 2.0)  # Three judges that order outputs alike, and lie apart.


@pytest.mark.parametrize(
    ("variants", "normalises", "advice"),
    [
        (2, False, "anchor each point of the scale"),
        (2, True, "anchor each point of the scale"),
        (3, False, "let the panel step normalise (normalise: z)"),
        (3, True, "which normalise: z takes out of the score"),
    ],
)
def test_normalising_is_advised_only_where_it_would_do_something(variants: int, normalises: bool, advice: str) -> None:
    """It is no advice where it is set, nor where a sample has fewer outputs than it takes."""
    names = ("old", "new", "new2")[:variants]
    rows = [[score + level for score in spread(4, 12)] for level in LEVELS]

    found = decided(*[column([4.0] * 12)] * variants, judges=dict.fromkeys(names, rows), normalises=normalises)

    told = found.comparisons[0].badges[0].advice
    assert told.startswith("They order outputs alike and differ in level")
    assert advice in told
    assert ("let the panel step normalise" in told) == (variants == 3 and not normalises)


def test_a_headline_names_the_variant_that_lost_outputs() -> None:
    """Everything else calls it by its name."""
    found = decided(column(OLD), column([None, None, *NEW[2:]]))

    assert found.headline.endswith(", but new lost outputs.")
    assert found.comparisons[0].rule == "7. the composite is significantly higher, but the treatment lost outputs"
