"""What the replies of these tests were asked for: scales, and three criteria."""

from fractions import Fraction

from evenhand.judging.reading.score_labels import WantedReplyAnswer
from evenhand.model.scale import ZERO_TO_TEN, Scale, ScaleBand

ONE_TO_FIVE = Scale(min=Fraction(1), max=Fraction(5))
WHOLE_ONE_TO_FIVE = Scale(min=Fraction(1), max=Fraction(5), integers=True)
ONE_TO_TEN = Scale(min=Fraction(1), max=Fraction(10), integers=True)
TO_TEN = Scale(min=Fraction(0), max=Fraction(10))
SHARE = Scale(min=Fraction(0), max=Fraction(1))
TO_HUNDRED = Scale(min=Fraction(0), max=Fraction(100))
AROUND_ZERO = Scale(min=Fraction(-2), max=Fraction(2))
BANDS = Scale(
    min=Fraction(0),
    max=Fraction(100),
    integers=True,
    bands=(
        ScaleBand(id="C", min=Fraction(0), max=Fraction(59)),
        ScaleBand(id="B", min=Fraction(60), max=Fraction(79)),
        ScaleBand(id="A", min=Fraction(80), max=Fraction(100)),
    ),
)

ACCURACY = WantedReplyAnswer("accuracy", ZERO_TO_TEN, ("准确性", "factual accuracy"))
CLARITY = WantedReplyAnswer("clarity", ZERO_TO_TEN, ("清晰度",))
STYLE = WantedReplyAnswer("writing-style", ZERO_TO_TEN, ("文风",))
ASKED = (ACCURACY, CLARITY, STYLE)
