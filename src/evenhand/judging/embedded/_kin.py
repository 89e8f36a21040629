"""Words of like and of opposite meaning, by stem: general ones only, as every field has its own."""

from __future__ import annotations

from evenhand.judging.embedded._stems import stem

_ALIKE = """
refund reimburse repay reimbursement
cancel terminate end
cost price fee charge fare
buy purchase acquire
begin start launch commence onset
end finish complete conclude stop
close shut
fix repair mend solve resolve patch correct
break fail crash outage failure malfunction
error bug fault defect
change modify alter edit touch adjust update amend
delete remove erase drop
add append insert extra additional
increase rise grow climb gain raise up
decrease fall drop decline shrink cut reduce lower down
buy order
send ship dispatch mail post
deliver arrive
delay late postpone behind
allow permit let may
forbid ban prohibit
require need must mandatory compulsory obligatory necessary essential
help assist support aid
recommend advise suggest propose
warn caution alert danger risk hazard
doctor physician gp clinician medic
medicine drug medication tablet pill
pain ache sore hurt
ill sick unwell disease illness
child kid infant baby
worker employee staff personnel
boss manager supervisor
holiday vacation leave
salary wage pay income earnings
customer client buyer
company firm business organisation
contract agreement
law legal statute
court judge tribunal
rent lease
house home
car vehicle
bicycle bike cycle
train rail
plane flight aircraft
fast quick rapid swift speed
slow sluggish
big large great huge
small little tiny minor
cheap inexpensive affordable
expensive costly dear
easy simple
hard difficult tough
old former previous
new recent latest
free gratis complimentary
broken damaged faulty defective
cause because reason due owing trigger
result outcome effect consequence
show display demonstrate
see view look
ask request enquire inquire
answer reply respond
meet appointment meeting
teach train instruct
learn study
test exam check verify examine inspect
trip journey travel
store keep save
shop store retailer
email e-mail mail
phone telephone call ring
number count amount total figure
percentage percent share proportion
double twice
half fifty
meal breakfast lunch dinner food
morning am
evening night pm
injure hurt wound harm casualty
kill die fatal
fire blaze flame
hot warm heat
cold cool chill
wet damp moist
rain shower downpour
water irrigate
plant sow grow
dig hole
switch turn toggle
automatic automatically itself
password credential login
backup copy
guarantee warranty
discount reduction off
deadline due
return back
replace swap exchange substitute
missing absent lack lost
present attend attendance
average mean
goal score
team side squad
win beat victory
lose defeat
first initial
last final
maximum most limit cap
minimum least
sign signature signed
writing written
quit resign leave
hire employ recruit
money cash fund
owner possessor
city town
country nation
road street
war conflict
king ruler monarch
build construct erect
invent create design
discover find
sea ocean
area region zone
side-effect adverse
exercise workout training
tired fatigue exhausted
sleep rest
enough sufficient adequate
near close
agree accept approve consent
refuse reject deny decline
oppose against
support favour back
plan schedule
happen occur
let permit
choose pick select
part component piece
empty dry
full complete whole
sure certain
wrong incorrect false mistaken
right correct true
safe secure
quiet silent
loud noisy
restart reboot
install set-up setup
upgrade update
download fetch
folder directory
slow lag
screen display monitor
picture image photo
video film clip
""".strip().splitlines()

_OPPOSITE = [
    pair
    for line in """
increase decrease|rise fall|grow shrink|raise lower|up down|above below|over under|more less|more fewer|before after
open close|open shut|allow forbid|permit prohibit|accept reject|approve deny|agree refuse|free paid|first last
left right|north south|east west|hot cold|warm cold|buy sell|win lose|include exclude|enable disable|safe dangerous
required optional|mandatory optional|mandatory voluntary|start stop|begin end|success failure|succeed fail
true false|correct wrong|right wrong|add remove|possible impossible|always never|all none|early late|earlier later
fast slow|high low|long short|big small|large small|cheap expensive|old new|young old|hard soft|hard easy
easy difficult|wet dry|full empty|public private|internal external|import export|borrow lend|gain loss|profit loss
positive negative|maximum minimum|most least|better worse|best worst|upper lower|inside outside|on off|arrive leave
arrive depart|present absent|alive dead|guilty innocent|strong weak|light heavy|light dark|bright dark|day night
morning evening|summer winter|manual automatic|clockwise counterclockwise|refundable non-refundable|renewable fossil
single double|online offline|encrypted plain|faster slower|before later
""".strip().splitlines()
    for pair in line.split("|")
]


def _groups() -> dict[str, frozenset[str]]:
    kin: dict[str, set[str]] = {}
    for line in _ALIKE:
        stems = {stem(word) for word in line.split()}
        for one in stems:
            kin.setdefault(one, set()).update(stems)
    return {one: frozenset(others - {one}) for one, others in kin.items()}


def _opposites() -> dict[str, frozenset[str]]:
    against: dict[str, set[str]] = {}
    for pair in _OPPOSITE:
        first, second = (stem(word) for word in pair.split())
        against.setdefault(first, set()).add(second)
        against.setdefault(second, set()).add(first)
    return {one: frozenset(others - {one}) for one, others in against.items()}


ALIKE = _groups()
OPPOSITE = _opposites()
