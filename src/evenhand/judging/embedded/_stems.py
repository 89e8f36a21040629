"""Stems: a word without its endings, so that "paid" and "payments" are one word."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A word without its endings. Rough: it has to be the same for both texts, not right."""
    low = word.lower().replace("’", "'")
    low = low.removesuffix("'s").removesuffix("'")
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    for ending, kept in _ENDINGS:
        if low.endswith(ending) and len(low) - len(ending) >= kept:
            low = low[: -len(ending)] + _LEFT[ending] if ending in _LEFT else _undoubled(low[: -len(ending)])
            break
    low = low[:-1] if len(low) > 3 and low.endswith("e") else low
    return low[:-1] + "i" if len(low) > 3 and low.endswith("y") else low


def _undoubled(word: str) -> str:
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls" else word


# What stays of some endings: "cities" is "citi", as "city" is.
_LEFT = {"ies": "i", "ied": "i", "ss": "ss", "sses": "ss", "shes": "sh", "ches": "ch", "xes": "x"}
# An ending, and how many letters must stay before it; the first that fits is taken off.
_ENDINGS = [
    (ending, int(kept))
    for line in """
izations:4 isations:4 ization:4 isation:4 ations:4 ation:4 ments:4 ment:4 nesses:4 ness:4 ibility:4 ability:4
ingly:4 edly:4 ities:4 ity:4 ions:4 ion:4 ings:3 ing:3 ives:4 ive:4 able:4 ible:4 fully:3 ful:3 ally:4 ily:3 ly:3
ies:2 ied:2 ers:4 ors:4 er:4 or:4 ized:4 ised:4 ize:4 ise:4 sses:2 shes:2 ches:2 xes:2 eed:2 ed:3 es:3 ss:2 s:3
""".splitlines()
    for ending, _, kept in (entry.partition(":") for entry in line.split())
]

# A stem, and the forms that rules of endings would miss or tear apart.
_IRREGULAR = {
    form: base
    for base, _, forms in (
        line.partition(": ")
        for line in """
pai: paid pay pays paying payment payments payable
send: sent send sends sending
tak: took taken take takes taking
giv: gave given give gives giving
go: went gone go goes going
com: came come comes coming
writ: wrote written write writes writing
buy: bought buy buys buying
sell: sold sell sells selling sale sales
fall: fell fallen fall falls
ris: rose risen rise rises rising
begin: began begun begin begins beginning
break: broke broken break breaks
choos: chose chosen choose chooses choosing choice choices
find: found find finds finding findings
keep: kept keep keeps keeping
lead: led lead leads leading
leav: left leave leaves leaving
los: lost lose loses losing loss losses
mak: made make makes making
mean: meant mean means meaning
run: ran run runs running
say: said say says saying
speak: spoke spoken speak speaks
think: thought think thinks
tell: told tell tells telling
understand: understood understand understands
win: won win wins winning
grow: grew grown grow grows growth
know: knew known know knows knowledge
hold: held hold holds
bring: brought bring brings
build: built build builds building buildings
teach: taught teach teaches teacher
driv: drove driven drive drives driving driver
eat: ate eaten eat eats
child: children child
man: men man
woman: women woman
person: people person persons
foot: feet foot
be: is are was were been being be am
hav: has had have having
do: does did done do doing
analys: analysis analyses analyse analyze analysed analyzed
dai: day days daily
week: week weeks weekly
month: month months monthly
year: year years yearly annual annually
di: die died dies dying death dead deaths
deliver: deliver delivers delivered delivery deliveries delivering
refus: refuse refuses refused refusal refusing
arriv: arrive arrives arrived arrival arriving
approv: approve approves approved approval approving
high: high higher highest height
low: low lower lowest
fast: fast faster fastest
cheap: cheap cheaper cheapest
wors: worse worst bad badly
better: better best good well
decid: decide decides decided deciding decision decisions
explain: explain explains explained explanation explaining
reduc: reduce reduces reduced reduction reducing
increas: increase increases increased increasing
decreas: decrease decreases decreased decreasing
compar: compare compares compared comparison comparing
us: use uses used using usage user users
ic: ice
stor: store stores stored storing storage
replac: replace replaces replaced replacement replacing
requir: require requires required requirement requirements
describ: describe describes described description describing
warn: warn warns warned warning warnings
apolog: apology apologies apologise apologises apologize apologizes apologised apologized apologising sorry
includ: include includes included including inclusion
caus: cause causes caused causing
behav: behaviour behavior behave behaves
colour: colour color colours colors
centr: centre center centres centers
produc: produce produces produced production producing product products
publish: publish publishes published publication
recommend: recommend recommends recommended recommendation recommendations
own: own owns owner owners owned
avail: available availability
expir: expire expires expired expiry expiration
dos: dose doses dosage
""".strip().splitlines()
    )
    for form in forms.split()
}
