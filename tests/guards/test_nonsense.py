"""Suffixes that a search finds are seen; code, tables, logs, names and other languages pass."""

import base64
import json
import random
import sysconfig
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.files.methods import load_library_data_file
from evenhand.guards.injection import (
    classify_nonsense_unit,
    find_injected_nonsense,
    find_injections,
    load_nonsense_profile,
)
from tests.growth import is_within_times

DATA = Path(__file__).parents[2] / "benchmarks" / "data"
ANSWER = "The pump was found to run dry at night, and we have ordered a new one that should arrive soon."
WORDS = [
    "alpha",
    "order",
    "record",
    "window",
    "stream",
    "bridge",
    "carbon",
    "metric",
    "socket",
    "planet",
    "import",
    "silver",
    "handle",
    "bucket",
    "cursor",
    "vector",
    "module",
    "signal",
    "market",
    "garden",
    "letter",
    "number",
    "system",
    "branch",
    "folder",
    "object",
    "branch",
    "status",
    "worker",
    "queue",
]
NAMES = [
    "Anna",
    "Piotr",
    "Nguyễn",
    "José",
    "Müller",
    "Okafor",
    "Sánchez",
    "Wei",
    "Zoë",
    "Björn",
    "Ivanova",
    "Haruki",
    "Tanaka",
    "Fatima",
    "O'Connor",
    "Kowalczyk",
    "Papadopoulos",
    "Çelik",
    "Smith",
    "García",
    "Dubois",
    "Rossi",
    "Kim",
    "Patel",
    "Singh",
    "Mbeki",
    "Lindqvist",
    "Novák",
    "Horváth",
    "MacDonald",
    "DeLuca",
]
CHEMISTRY = (
    "2-(acetyloxy)benzoic acid", "N-(4-hydroxyphenyl)acetamide", "1,3,7-trimethylxanthine", "CC(=O)OC1=CC=CC=C1C(=O)O",
    "(2S,3R,4S,5S,6R)-6-(hydroxymethyl)oxane-2,3,4,5-tetrol", "[O-][N+](=O)c1ccccc1", "K4[Fe(CN)6]", "α-D-glucose",
    "tert-butyl N-[(1R)-1-phenylethyl]carbamate", "InChI=1S/CH4O/c1-2/h2H,1H3", "Fe2(SO4)3", "4-[2-(methylamino)ethyl]",
)  # fmt: skip
MATHEMATICS = (
    r"\frac{d}{dx}\left(\int_{0}^{x} f(u)\,du\right)=f(x)", r"$\sum_{i=1}^{n} x_i^2 \leq \|x\|_2^2$", "x² + y² = r²",
    "∀ε>0 ∃δ>0: |x−a|<δ ⇒ |f(x)−L|<ε", "P(A|B) = P(B|A)·P(A)/P(B)", "a = (b + c) / (d - e)", "σ ≈ 0.0341 ± 0.002",
    r"\[ \lim_{n\to\infty} \left(1+\frac{1}{n}\right)^n = e \]", "(3x + 5)(2x − 1) = 6x² + 7x − 5", "O(n log n)",
)  # fmt: skip
Draw = random.Random


def draw_hex(draw: Draw, size: int) -> str:
    return draw.randbytes(size).hex()


def draw_url(draw: Draw) -> str:
    path = "/".join(draw.sample(WORDS, 3))
    query = f"id={draw.randrange(999)}&q={draw.choice(WORDS)}"
    return f"https://{draw.choice(WORDS)}.{draw.choice(WORDS)}.org/{path}?{query}#{draw_hex(draw, 3)}"


ORDINARY: dict[str, Callable[[Draw], str]] = {
    "log": lambda draw: (
        f"2026-03-{draw.randrange(10, 28)}T12:{draw.randrange(10, 59)}:07.{draw.randrange(999):03}Z "
        f"{draw.choice(['INFO', 'WARN', 'ERROR'])} [{draw.choice(WORDS)}-{draw.randrange(9)}] {draw.choice(WORDS)}."
        f"{draw.choice(WORDS)}: {' '.join(draw.sample(WORDS, 4))} id={draw_hex(draw, 4)} status={draw.randrange(599)}"
    ),
    "URL": lambda draw: f"- [{draw.choice(WORDS)}]({draw_url(draw)})",
    "hash": lambda draw: f"{draw_hex(draw, 32)}  {draw.choice(WORDS)}/{draw.choice(WORDS)}.tar.gz",
    "base64 in code": lambda draw: (
        f'const {draw.choice(WORDS)} = "data:image/png;base64,{base64.b64encode(draw.randbytes(90)).decode()}";'
    ),
    "CSV": lambda draw: ",".join(
        draw.choice([draw.choice(WORDS), str(draw.randrange(999)), f"{draw.random():.3f}", '"Kim, Wei"', "", "true"])
        for _ in range(7)
    ),
    "table": lambda draw: (
        f"| {draw.choice(WORDS)} | **{draw.randrange(99)}** | `{draw.choice(WORDS)}()` | {draw.random():.1%} |"
    ),
    "names": lambda draw: f"{draw.choice(NAMES)} {draw.choice(NAMES)} <{draw.choice(WORDS)}@{draw.choice(WORDS)}.org>;",
    "chemistry": lambda draw: f"{draw.choice(CHEMISTRY)}, {draw.choice(CHEMISTRY)}",
    "mathematics": lambda draw: f"Then {draw.choice(MATHEMATICS)}, hence",
}  # fmt: skip
LANGUAGES = (
    "Die Pumpe läuft nachts trocken, deshalb haben wir eine neue bestellt; sie müsste am Dienstag kommen (Nr. 20417).",
    "La pompe tourne à sec la nuit : nous en avons commandé une autre, qui devrait arriver d’ici à cinq jours.",
    "Насос ночью работает всухую, поэтому мы заказали новый; он должен прийти во вторник (№ 20417).",
    "水泵夜里空转，所以我们订购了一台新的，预计星期二到货（编号20417）。请查收Evenhand发送的邮件。",
    "ポンプが夜間に空運転していたため、新しいものを注文しました。API の設定は config.yaml を見てください。",
    "Pompa geceleri kuru çalışıyor, bu yüzden yenisini sipariş ettik; salı günü gelmesi bekleniyor.",
    "المضخة تعمل جافة في الليل، لذلك طلبنا مضخة جديدة تصل يوم الثلاثاء.",
    "펌프가 밤에 공회전하여 새 펌프를 주문했습니다. 화요일에 도착할 예정입니다(번호 20417).",
)
MINIFIED = (
    '!function(e,t){"object"==typeof exports?module.exports=t():e.lib=t()}(this,function(){var n={};function r(e){'
    "return n[e]||(n[e]={i:e,l:!1,exports:{}})}return r.m=n,r.d=function(e,t){r.o(e,t)||Object.defineProperty(e,t,"
    "{enumerable:!0})},r(0)});"
)


def read_suffixes() -> dict[str, list[str]]:
    rows = [json.loads(line) for line in (DATA / "suffixes.jsonl").read_text("utf-8").splitlines()]
    return {kind: [row["text"] for row in rows if row["kind"] == kind] for kind in Counter(row["kind"] for row in rows)}


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [
        ("random tokens", 0.45, 1.0),
        ("tokens and marks", 0.85, 1.0),
        ("mixed alphabets", 0.8, 1.0),
        ("marks", 0.9, 1.0),
        ("word salad", 0.0, 0.3),
        ("short phrases", 0.0, 0.1),
    ],
)
def test_suffixes_are_found_as_often_as_the_manual_says(kind: str, least: float, most: float) -> None:
    """Behind an ordinary answer; what is made of real words alone passes, and the manual says so."""
    texts = read_suffixes()[kind]

    found = sum("nonsense" in {one.rule for one in find_injections(f"{ANSWER} {text}")} for text in texts)

    assert least * len(texts) <= found <= most * len(texts)


@pytest.mark.parametrize("kind", ORDINARY)
def test_ordinary_text_of_many_kinds_passes(kind: str) -> None:
    """At most one in a hundred: a guard that cries at code and tables is switched off."""
    draw = random.Random(kind)
    texts = ["\n".join(ORDINARY[kind](draw) for _ in range(draw.randint(2, 12))) for _ in range(100)]

    flagged = [text for text in texts if find_injected_nonsense(text)]

    assert len(flagged) <= 1, flagged


@pytest.mark.parametrize("text", [*LANGUAGES, MINIFIED])
def test_other_languages_and_minified_code_pass(text: str) -> None:
    """A letter that English lacks is no attack."""
    assert find_injected_nonsense(text) == ()
    assert find_injected_nonsense(f"{text}\n\n{text}") == ()


def test_code_of_the_standard_library_passes() -> None:
    """What nothing was fitted on: pieces of two thousand characters, one in a hundred at most."""
    files = [
        *Path(sysconfig.get_paths()["stdlib"]).glob("*.py"),
        *Path(sysconfig.get_paths()["stdlib"]).glob("[a-r]*/*.py"),
    ]
    texts = [file.read_text("utf-8", errors="ignore")[3000:5000] for file in files]

    flagged = [text for text in texts if find_injected_nonsense(text)]

    assert len(files) > 100
    assert len(flagged) <= 0.01 * len(files), [text[:80] for text in flagged]


def test_published_outputs_pass(shared: Path) -> None:
    """What models and people write is hardly ever nonsense."""
    sets = shared / "datasets"
    rows = [json.loads(line) for line in (sets / "pandalm_3annotators" / "items.jsonl").read_text("utf-8").splitlines()]
    texts = [str(row[name]) for row in rows for name in ("response1", "response2")]

    flagged = [text for text in texts if find_injected_nonsense(text)]

    assert len(flagged) <= 0.003 * len(texts), flagged


def test_each_entry_meets_its_own_examples() -> None:
    """A list that nothing shows to be needed is a guess."""
    file = load_library_data_file("guards/injection/nonsense.yaml")
    kinds = {"function_words": "f", "common_words": "w"}

    wrong = [text for text in file["passages"]["matches"] if not find_injected_nonsense(text)]
    wrong += [text for text in file["passages"]["passes"] if find_injected_nonsense(text)]
    entries = [(kinds[name], file[name]) for name in kinds]
    entries += [(name[0], entry) for name, entry in file["alphabets"].items()]
    for kind, entry in entries:
        wrong += [text for text in entry["matches"] if classify_nonsense_unit(text).lower() != kind]
        wrong += [text for text in entry["passes"] if classify_nonsense_unit(text).lower() == kind]

    assert wrong == []
    assert len(load_nonsense_profile().words) == 1000


@given(st.text(alphabet=st.sampled_from('aZ](!{}"\\ #é中\n.-nowTable')), st.text())
def test_a_passage_is_a_piece_of_the_text(text: str, after: str) -> None:
    """Whatever the text, the passages lie in it, in order and apart."""
    edges = [edge for place in find_injected_nonsense(text + after) for edge in place]

    assert edges == sorted(edges)
    assert all(0 <= edge <= len(text + after) for edge in edges)


@pytest.mark.long
@pytest.mark.parametrize("unit", ["](!{} render ", "aB", "中a", "x = f(y)\n"])
def test_time_grows_no_faster_than_the_text(unit: str) -> None:
    """A long text must not stop the judging of others."""
    short = unit * (10_000 // len(unit))

    assert is_within_times(find_injected_nonsense, short, short * 4, times=8, floor=1e-3)
