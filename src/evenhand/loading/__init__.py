"""Files to values: a tree that remembers its lines, rubrics, methods and answers read from it."""

from evenhand.loading._answers import Outputs, Reviews, answers_in, load_answers, read_answers, stdin_answers
from evenhand.loading._environment import with_environment
from evenhand.loading._fields import number_from
from evenhand.loading._files import decoded, read_text, read_words
from evenhand.loading._json_values import Twice, decimal_in, decoded_json, object_of
from evenhand.loading._library import (
    LIBRARY,
    load_method,
    load_method_file,
    method_names,
    read_guard_patterns,
    rubric_names,
    starter_rubric,
)
from evenhand.loading._rubrics import Opened, is_method_file, load_rubric, open_rubric, read_rubric, rubric_source
from evenhand.loading._schema import rubric_schema

__all__ = [
    "LIBRARY",
    "Opened",
    "Outputs",
    "Reviews",
    "Twice",
    "answers_in",
    "decimal_in",
    "decoded",
    "decoded_json",
    "is_method_file",
    "load_answers",
    "load_method",
    "load_method_file",
    "load_rubric",
    "method_names",
    "number_from",
    "object_of",
    "open_rubric",
    "read_answers",
    "read_guard_patterns",
    "read_rubric",
    "read_text",
    "read_words",
    "rubric_names",
    "rubric_schema",
    "rubric_source",
    "starter_rubric",
    "stdin_answers",
    "with_environment",
]
