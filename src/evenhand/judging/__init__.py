"""Evidence from models: what is asked, how replies are read, how a panel is heard."""

from evenhand.judging._contract import (
    call_json,
    finding_json,
    judged_json,
    judgment_json,
    preferred_json,
    spent_json,
    suggestion_json,
)
from evenhand.judging._driver import Call, Driver
from evenhand.judging._how import Cascade, How
from evenhand.judging._judge import asked_of, judge_sample, prefer_sample
from evenhand.judging._judged import Judged, Preferred, Saved, Standing
from evenhand.judging._opinion import manner_of
from evenhand.judging._prompts import LANGUAGES, Prompts, load_prompts
from evenhand.judging._request import (
    EMBEDDED,
    Matter,
    Message,
    Model,
    NoReply,
    Place,
    Reply,
    Request,
    Settings,
    Usage,
    version_of,
)
from evenhand.judging._told import Check, Dimensions, GateCheck, Manner, Preference, Suggestion, Told

__all__ = [
    "EMBEDDED",
    "LANGUAGES",
    "Call",
    "Cascade",
    "Check",
    "Dimensions",
    "Driver",
    "GateCheck",
    "How",
    "Judged",
    "Manner",
    "Matter",
    "Message",
    "Model",
    "NoReply",
    "Place",
    "Preference",
    "Preferred",
    "Prompts",
    "Reply",
    "Request",
    "Saved",
    "Settings",
    "Standing",
    "Suggestion",
    "Told",
    "Usage",
    "asked_of",
    "call_json",
    "finding_json",
    "judge_sample",
    "judged_json",
    "judgment_json",
    "load_prompts",
    "manner_of",
    "prefer_sample",
    "preferred_json",
    "spent_json",
    "suggestion_json",
    "version_of",
]
