"""Prompts with places: what stands in a sample is put in and never read again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import EvalError, OutputError
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants.variant import VariantPromptTemplate
from tests.evals.variants.making import QUESTION


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{input}", "Where is it?"),
        ("Q: {input}\nA:", "Q: Where is it?\nA:"),
        ("{id}{id} {context} {reference}", "aa Orders secret answer"),
        ("{metadata.topic}/{metadata.n}", "late/3"),
        ('{{"q": "{input}"}}', '{"q": "Where is it?"}'),
        ("{{input}}", "{input}"),
        ("{{{input}}}", "{Where is it?}"),
        ("", ""),
    ],
)
def test_places_are_filled(text: str, filled: str) -> None:
    """Doubled braces are braces."""
    assert VariantPromptTemplate(text).fill(QUESTION) == filled


@pytest.mark.parametrize("text", ["{", "}", "{input", "{}", "{ input }", "{metadata.}", "{metadata}", "{a\nb}", "{{}"])
def test_what_cannot_be_filled_is_refused_at_birth(text: str) -> None:
    """A slip in a prompt is found before a thousand calls are made with it."""
    with pytest.raises(EvalError):
        VariantPromptTemplate(text)


def test_a_sample_without_the_metadata_fails_alone() -> None:
    """Not every sample has every field."""
    with pytest.raises(OutputError, match="the sample has no metadata 'x', which the prompt asks for"):
        VariantPromptTemplate("{metadata.x}").fill(QUESTION)


@given(st.text(), st.text())
def test_whatever_a_sample_holds_is_put_in_as_it_is(input: str, context: str) -> None:
    """Places in an input are text, not places."""
    sample = EvalSample(id="a", input=input, context=context)

    assert VariantPromptTemplate("{input}|{context}").fill(sample) == f"{input}|{context}"


@given(st.text())
def test_any_text_with_its_braces_doubled_is_itself(text: str) -> None:
    """There is a way to write everything."""
    assert VariantPromptTemplate(text.replace("{", "{{").replace("}", "}}")).fill(QUESTION) == text
