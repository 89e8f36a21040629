"""Two judges without a model for the contest beside them: their answers were written by hand, so no key is needed.

A judge is any function that takes a request and returns a reply. Their replies are in `replies.jsonl`; where a prompt
has changed, these commands write them anew, in this folder:

    rm replies.jsonl
    evenhand contest run task.yaml submissions --challenges challenges.jsonl --record replies.jsonl
    sed '/^dimensions:/,$d' task.yaml > open-task.yaml
    evenhand contest dimensions open-task.yaml --record replies.jsonl
"""

import json
import re

# By submission: a passage that only it has, and what the judge says of it.
KNOWN = {
    "kestrel": "The label opens as a page to print.",
    "heron": "Sending something back is easy!",
    "heron-2": "Sending something back takes three steps.",
    "swift": "Everything else is explained in our terms and conditions",
    "wren": "Our return policy allows for the return of merchandise",
}

# By submission, in the order of the acceptance criteria: the passage, or what to change.
GATE = {
    "kestrel": [
        ["within 30 days of delivery"],
        ["Open **My orders**, choose the order and press *Return*"],
        ["Your money is back within 5 working days"],
    ],
    "heron": [
        ["You have 30 days from the day the parcel reached you"],
        ["go to **My orders** and\nprint the label"],
        "Add when the money comes back: within 5 working days after the parcel has arrived.",
    ],
    "heron-2": [
        ["You have 30 days from the day the parcel reached you"],
        ["open **My orders** and print the label"],
        ["you get your money within 5 working days"],
    ],
    "swift": [
        ["30 days."],
        ["The label is in **My orders**"],
        ["Money comes 5 working days after we have the parcel"],
    ],
    "wren": [
        ["within a period of 30 days following delivery"],
        ["can be obtained under **My orders**"],
        ["Reimbursement is effected within 5 working days"],
    ],
}

# By submission and dimension: the score alone, the score side by side, the passage, and what would raise it.
SCORES = {
    "kestrel": {
        "substantiveness": (
            88,
            90,
            "It is your proof until the parcel has reached us.",
            "Say what to do when goods arrive broken.",
        ),
        "credibility": (
            90,
            90,
            "Your money is back within 5 working days after the parcel has arrived here",
            "Nothing is made up; the promise to tell the reader is not in the terms.",
        ),
        "completeness": (92, 93, "unless the goods came from the sale", "Every term is there."),
        "next-step": (
            90,
            92,
            "Hand the parcel in at any post office and keep the receipt.",
            "Say how long the label is valid.",
        ),
        "plain-words": (
            84,
            82,
            "Pack the goods as they came and stick the label over the old one.",
            "Shorten the last sentence.",
        ),
    },
    "heron-2": {
        "substantiveness": (80, 82, "put\nthe label on top", "Say why the receipt matters."),
        "credibility": (86, 88, "you get your money within 5 working days", "Name the terms as the shop does."),
        "completeness": (
            82,
            80,
            "Items from the sale\ncannot be returned.",
            "Say that the 5 days count from the arrival of the parcel here.",
        ),
        "next-step": (85, 86, "First, open **My orders**", "Number the steps as a list."),
        "plain-words": (90, 91, "Third, take it to any post office and keep the receipt.", "Nothing to mend."),
    },
    "swift": {
        "substantiveness": (
            35,
            None,
            "Everything else is explained in our terms and conditions",
            "Give the steps instead of a reference.",
        ),
        "credibility": (
            60,
            None,
            "Money comes 5 working days after we have the parcel.",
            "Say 'within 5 working days', as the terms do.",
        ),
        "completeness": (
            48,
            None,
            "30 days.",
            "Say where the parcel is handed in, and that items from the sale are excluded.",
        ),
        "next-step": (30, None, "Please read them before you contact us", "Say what the reader does first."),
        "plain-words": (
            58,
            None,
            "since most questions that reach us are answered there",
            "Drop the second paragraph.",
        ),
    },
    "wren": {
        "substantiveness": (
            70,
            66,
            "The return label\ncan be obtained under **My orders**.",
            "Say what to do with the receipt.",
        ),
        "credibility": (
            56,
            52,
            "Nine out of ten customers complete a\nreturn in less than two minutes.",
            "Leave out figures that nobody can check.",
        ),
        "completeness": (
            76,
            72,
            "Merchandise from the sale is exempt from return.",
            "Say by which way the money comes back.",
        ),
        "next-step": (60, 56, "Customers are requested to affix it to the parcel", "Turn the policy into steps."),
        "plain-words": (
            52,
            50,
            "Reimbursement is effected within 5 working days subsequent to receipt",
            "Write as you would say it at a counter.",
        ),
    },
}

# By submission: problem, suggestion and severity, the more severe first.
ADVICE = {
    "kestrel": [
        ("Broken goods are not mentioned.", "Add one sentence on what to do when something arrives broken.", "medium"),
        ("The last sentence is long.", "End after the sentence on the money.", "low"),
    ],
    "heron-2": [
        ("It is not clear from when the 5 days count.", "Say that they begin when the parcel has arrived.", "medium"),
        ("The steps run on in one paragraph.", "Make them a numbered list.", "low"),
    ],
    "swift": [
        ("The reader is sent away to the terms.", "Write the steps: label, packing, post office.", "high"),
        ("Items from the sale are not mentioned.", "Say that they cannot be returned.", "high"),
    ],
    "wren": [
        ("Two statements are not in the terms.", "Remove the same day and the nine out of ten.", "high"),
        ("It reads like a contract.", "Say 'send it back' and 'you get your money'.", "medium"),
    ],
}

DIMENSIONS = [
    {"id": "substantiveness", "asks": "Is the content of value?", "weight": 0.25},
    {"id": "credibility", "asks": "Can it be trusted?", "weight": 0.2},
    {"id": "completeness", "asks": "Does it cover the task?", "weight": 0.25},
    {"id": "next-step", "asks": "Does the reader know what to do first, and what after that?", "weight": 0.15},
    {"id": "plain-words", "asks": "Is it written in short sentences and in words that customers use?", "weight": 0.15},
]


# What the second judge sees otherwise than the first: by submission, how far.
OTHERWISE = {"kestrel": -3, "heron-2": 1, "wren": -2}


def careful(request):
    """Judges the contest."""
    return answer(request, dict.fromkeys(KNOWN, 0))


def fresh(request):
    """Looks at a challenge, and has not judged before."""
    return answer(request, OTHERWISE)


def answer(request, shift):
    """The answer in the form that was asked for."""
    if request.dialogue == "dimensions":
        return json.dumps({"dimensions": DIMENSIONS})
    material = request.messages[-1].text
    if request.dialogue == "horizontal":
        names = {label: known(inside(material, f"submission-{label}")) for label in request.labels}
        each = {label: side_by_side(name, request.ids[0], shift[name]) for label, name in names.items()}
        return json.dumps({"submissions": each})
    name = known(inside(material, "submission"))
    if request.dialogue == "gate":
        return json.dumps({"criteria": dict(zip(request.ids, map(check, GATE[name]), strict=True))})
    scores = {id: alone(name, id) for id in request.ids}
    advice = [dict(zip(("problem", "suggestion", "severity"), one, strict=True)) for one in ADVICE[name]]
    return json.dumps({"criteria": scores, "revision_suggestions": advice})


def inside(material, tag):
    """The text between the tags of that name."""
    return re.search(rf"<{tag}-\w+>\n(.*)\n</{tag}-\w+>", material, re.DOTALL)[1]


def known(text):
    """The name of a submission, by a passage that only it has."""
    return next(name for name, passage in KNOWN.items() if passage in text)


def check(said):
    """One acceptance criterion: met with a passage, or not met with a hint."""
    met = isinstance(said, list)
    return {
        "evidence": said if met else [],
        "reason": "It says so." if met else "It does not say so anywhere.",
        "revision_hint": "" if met else said,
        "answer": "yes" if met else "no",
    }


def alone(name, id):
    """One dimension of a submission on its own."""
    score, _, passage, feedback = SCORES[name][id]
    return {"evidence": [passage], "reason": feedback, "feedback": feedback, "band": band(score), "score": score}


def side_by_side(name, id, shift):
    """One dimension of a submission beside the others."""
    _, score, passage, feedback = SCORES[name][id]
    score += shift
    return {"evidence": [passage], "reason": feedback, "band": band(score), "score": score}


def band(score):
    """The band in which a score lies."""
    return next(id for id, least in zip("ABCDE", (90, 70, 50, 30, 0), strict=True) if score >= least)
