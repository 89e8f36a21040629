"""What is handed out of the limits of models, where something else has changed it in the store."""

from functools import partial

import pytest
from sqlalchemy import update

from evenhand.models.shared_limits import share_model_places
from evenhand.store.store import Store
from evenhand.store.tables import MODEL_LIMITS
from evenhand.workflows.models import change_limits_in_store


@pytest.mark.parametrize(
    "content",
    ["x", "[]", "{}", "9" * 5000, '{"at":"x","ends":{},"shares":{}}', '{"at":0,"ends":{},"shares":{"a":[1,1,"x"]}}'],
)
def test_limits_that_cannot_be_read_hold_nobody_up(content: str, database: str) -> None:
    """They are forgotten: all contests and runs of a service would wait for a place with that model, for good."""
    ask = partial(share_model_places, holder="one", most=4, held=0, wanted=2)
    with Store.open(database, {}) as store:
        change_limits_in_store(store, "judge", ask)
        with store._connect(writes=True) as connection:
            connection.execute(update(MODEL_LIMITS).values(content=content))

        places = [change_limits_in_store(store, "judge", ask) for _ in range(2)]

    assert places == [2, 2]
