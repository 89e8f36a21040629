"""Two judges without a model, so that the examples run without a key.

A judge is any function that takes a request and returns a reply: here one that looks words up, in your house perhaps a
gateway. `request.ids` says which answers are asked for, `request.labels` which letters the outputs stand under.
"""

import json
import re

# Words in an answer, and what the strict judge says of the answer that has them.
KNOWN = {
    "has not been handed to the carrier": {
        "accuracy": (9, "It says what the status means and when a replacement is sent."),
        "clarity": (8, "Three short sentences in the order in which things happen."),
        "next-step": (9, "It ends with the one page to open and what to choose there."),
    },
    "on the van": {
        "accuracy": (2, "The carrier has not even received the parcel."),
        "clarity": (9, "Easy to follow."),
        "next-step": (1, "It leaves nothing to do."),
    },
}


def strict(request):
    """Scores by what is known of an answer."""
    return reply(request, lambda score: score)


def mild(request):
    """The same with an open heart."""
    return reply(request, lambda score: min(10, score + 2))


def reply(request, judged):
    """The answers in the form that was asked for."""
    task = request.messages[-1].text
    if request.dialogue == "pairwise":
        first, second = (total(inside(task, f"response-{label}")) for label in request.labels)
        winner = "A" if first > second else "B" if second > first else "tie"
        return json.dumps({"reason": "It has more of what is known to be right.", "winner": winner})
    if request.labels:
        each = {label: answers(inside(task, f"response-{label}"), request.ids, judged) for label in request.labels}
        return json.dumps({"responses": each})
    return json.dumps(answers(inside(task, "output"), request.ids, judged))


def inside(task, tag):
    """The text between the tags of that name."""
    return re.search(rf"<{tag}-\w+>\n(.*)\n</{tag}-", task, re.DOTALL)[1]


def answers(text, ids, judged):
    """What is known of a text, as far as it was asked for."""
    passage = next((words for words in KNOWN if words in text), "")
    each = {}
    for id in ids:
        score, reason = KNOWN.get(passage, {}).get(id, (None, "I only know the shipped examples."))
        said = "cannot assess" if score is None else judged(score)
        each[id] = {"evidence": [passage] if passage else [], "reason": reason, "score": said}
    return {"criteria": each}


def total(text):
    """All scores of a text."""
    return sum(score for words, known in KNOWN.items() if words in text for score, _ in known.values())
