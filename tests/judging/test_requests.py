"""A request is known by all of its content."""

from dataclasses import replace

from evenhand.models.requests import Message, ModelSettings, Request

REQUEST = Request(
    dialogue="pointwise",
    messages=(Message("system", "Judge."), Message("user", "This.")),
    schema={"type": "object"},
    settings=ModelSettings(temperature=0.0),
)


def test_whatever_decides_the_answer_is_in_the_key() -> None:
    """Elsewhere the key leaves out rubric, weights and mode, and old scores come back for new questions."""
    settings = REQUEST.settings
    others = [
        replace(REQUEST, dialogue="listwise"),
        replace(REQUEST, messages=(Message("system", "Judge!"), REQUEST.messages[1])),
        replace(REQUEST, messages=(REQUEST.messages[0], Message("user", "That."))),
        replace(REQUEST, messages=(Message("user", "Judge."), REQUEST.messages[1])),
        replace(REQUEST, messages=REQUEST.messages[:1]),
        replace(REQUEST, schema=None),
        replace(REQUEST, schema={"type": "array"}),
        replace(REQUEST, repeat=1),
        *(
            replace(REQUEST, settings=changed)
            for changed in (
                replace(settings, temperature=0.5),
                replace(settings, temperature=None),
                replace(settings, max_tokens=1),
                replace(settings, seed=1),
                replace(settings, top_logprobs=5),
            )
        ),
    ]

    keys = {request.key("m") for request in (REQUEST, *others)} | {REQUEST.key("n")}

    assert len(keys) == len(others) + 2
    assert replace(REQUEST).key("m") == REQUEST.key("m")
