"""Files to values: a tree that remembers its lines, rubrics, methods and answers read from it."""

from evenhand.loading._answers import Outputs, Reviews, answers_in, load_answers, read_answers
from evenhand.loading._environment import with_environment
from evenhand.loading._files import decoded
from evenhand.loading._library import load_method, load_method_file, method_names, rubric_names, starter_rubric
from evenhand.loading._rubrics import Opened, is_method_file, load_rubric, open_rubric, rubric_source
from evenhand.loading._schema import rubric_schema

__all__ = [
    "Opened",
    "Outputs",
    "Reviews",
    "answers_in",
    "decoded",
    "is_method_file",
    "load_answers",
    "load_method",
    "load_method_file",
    "load_rubric",
    "method_names",
    "open_rubric",
    "read_answers",
    "rubric_names",
    "rubric_schema",
    "rubric_source",
    "starter_rubric",
    "with_environment",
]
