"""The words of the embedded grammar: frequent English words with the classes that decide who can do what to whom."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Noun:
    """A countable noun."""

    singular: str
    plural: str
    kind: str
    "What it names, which decides the verbs, adjectives and prepositions that go with it."
    gender: str
    '"Masc" or "Fem" for people whose word says so, else "".'


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb with all its forms and what it selects."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str
    subjects: tuple[str, ...]
    "Kinds of noun that can be its subject."
    objects: tuple[str, ...]
    "Kinds of noun that can be its object; of the thing given for verbs of giving."
    flags: tuple[str, ...]
    '"stative" verbs have no progressive, "manner" verbs take adverbs like "slowly", "still" ones need no place.'


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    """Return the phrases of a text that commas part."""
    return tuple(text.split(", "))


def _nouns(kind: str, words: str, gender: str = "") -> tuple[Noun, ...]:
    """Read nouns; an irregular plural follows a slash."""
    nouns = []
    for word in words.split():
        singular, _, plural = word.partition("/")
        nouns.append(Noun(singular, plural or _plural(singular), kind, gender))
    return tuple(nouns)


def _plural(noun: str) -> str:
    """Return the regular plural."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"


NOUNS = (
    *_nouns("person", "king man/men boy prince monk lord actor", "Masc"),
    *_nouns("person", "queen woman/women girl lady nun actress", "Fem"),
    *_nouns("person", "farmer teacher doctor lawyer driver writer painter singer soldier student worker"),
    *_nouns("person", "child/children sailor hunter judge nurse pilot dancer engineer visitor stranger manager"),
    *_nouns("person", "neighbor guest captain tourist poet officer guard merchant"),
    *_nouns("animal", "dog cat horse bird cow wolf/wolves fox bear lion pig goat duck rabbit monkey"),
    *_nouns("object", "key cup bottle lamp ring coat hat knife/knives sword mirror clock camera guitar toy shirt"),
    *_nouns("furniture", "table chair bed box basket bag"),
    *_nouns("text", "book letter story poem song map report note newspaper message picture"),
    *_nouns("food", "apple cake egg meal sandwich potato/potatoes"),
    *_nouns("place", "house garden school church shop office hotel castle village forest museum hospital kitchen park"),
    *_nouns("landmark", "river bridge hill lake tower tree wall gate field road door window"),
    *_nouns("vehicle", "car boat train ship truck bus wagon bicycle"),
)
RELATIVES = (
    *_nouns("person", "father brother son uncle grandfather nephew", "Masc"),
    *_nouns("person", "mother sister daughter aunt grandmother niece", "Fem"),
    *_nouns("person", "friend"),
)
'Nouns introduced by their possessor ("her brother").'
NAMES = {
    "Masc": _words("John James David Peter Paul Tom Henry Robert George Jack Daniel Simon Adam Frank Oliver Leo"),
    "Fem": _words("Mary Anna Sarah Emma Alice Jane Lucy Helen Kate Laura Julia Maria Elizabeth Susan Emily Clara"),
}


def _verbs(table: str) -> tuple[Verb, ...]:
    """Read verbs from lines of five forms, subjects, objects and flags, parted by bars."""
    verbs = []
    for line in table.strip().splitlines():
        forms, subjects, objects, flags = (tuple(cell.split()) for cell in line.split("|"))
        base, third, past, participle, gerund = forms
        verbs.append(Verb(base, third, past, participle, gerund, subjects, objects, flags))
    return tuple(verbs)


INTRANSITIVE = _verbs("""
sleep sleeps slept slept sleeping | person animal | | manner
laugh laughs laughed laughed laughing | person | | manner
smile smiles smiled smiled smiling | person | |
wait waits waited waited waiting | person animal | | manner
sing sings sang sung singing | person | | manner
dance dances danced danced dancing | person | | manner
work works worked worked working | person | | manner
walk walks walked walked walking | person animal | | manner
run runs ran run running | person animal | |
rest rests rested rested resting | person animal | | manner
cry cries cried cried crying | person | | manner
play plays played played playing | person animal | | manner
stand stands stood stood standing | person animal vehicle | |
fall falls fell fallen falling | person object | | still
disappear disappears disappeared disappeared disappearing | person animal object text | | still
burn burns burned burned burning | place | | still
stop stops stopped stopped stopping | vehicle | |
arrive arrives arrived arrived arriving | person vehicle | | still
""")
TRANSITIVE = _verbs("""
know knows knew known knowing | person | person text place | stative
help helps helped helped helping | person | person animal |
see sees saw seen seeing | person animal | person animal place vehicle | stative
watch watches watched watched watching | person animal | person animal vehicle | manner
visit visits visited visited visiting | person | person place |
follow follows followed followed following | person animal | person animal vehicle | manner
meet meets met met meeting | person | person |
like likes liked liked liking | person animal | person animal food | stative
love loves loved loved loving | person | person animal place text | stative
trust trusts trusted trusted trusting | person | person | stative
call calls called called calling | person | person animal |
thank thanks thanked thanked thanking | person | person |
fear fears feared feared fearing | person animal | person animal | stative
hate hates hated hated hating | person | person animal place food | stative
remember remembers remembered remembered remembering | person | person text place | stative
protect protects protected protected protecting | person animal | person animal |
surprise surprises surprised surprised surprising | person animal text | person |
feed feeds fed fed feeding | person | animal | manner
chase chases chased chased chasing | person animal | person animal |
bite bites bit bitten biting | animal | person animal |
carry carries carried carried carrying | person | object furniture food animal | manner
hold holds held held holding | person | object text animal | manner
buy buys bought bought buying | person | object furniture food vehicle animal text |
sell sells sold sold selling | person | object furniture food vehicle |
find finds found found finding | person animal | object text food person animal |
lose loses lost lost losing | person | object text |
break breaks broke broken breaking | person animal | object furniture |
paint paints painted painted painting | person | furniture place vehicle | manner
use uses used used using | person | object vehicle furniture |
hide hides hid hidden hiding | person animal | object text food | manner
keep keeps kept kept keeping | person | object text animal | stative
have has had had having | person | object text animal vehicle food | stative
need needs needed needed needing | person | person object text food vehicle | stative
read reads read read reading | person | text | manner
write writes wrote written writing | person | text | manner
study studies studied studied studying | person | text | manner
eat eats ate eaten eating | person animal | food | manner
cook cooks cooked cooked cooking | person | food | manner
share shares shared shared sharing | person | food |
enter enters entered entered entering | person animal | place | manner
leave leaves left left leaving | person animal | place | manner
build builds built built building | person | place vehicle | manner
drive drives drove driven driving | person | vehicle | manner
move moves moved moved moving | person | object furniture vehicle | manner
touch touches touched touched touching | person | object furniture animal | manner
""")
GIVING = _verbs("""
give gives gave given giving | person | object text food animal |
send sends sent sent sending | person | text object |
show shows showed shown showing | person | object text vehicle place |
offer offers offered offered offering | person | food object |
bring brings brought brought bringing | person | food object text |
hand hands handed handed handing | person | object text |
sell sells sold sold selling | person | object furniture vehicle animal |
""")
TAKING = _verbs("""
buy buys bought bought buying | person | object furniture food vehicle animal text |
take takes took taken taking | person | object text food animal |
steal steals stole stolen stealing | person | object food vehicle text |
get gets got gotten getting | person | object text food |
receive receives received received receiving | person | text object |
accept accepts accepted accepted accepting | person | food object text |
order orders ordered ordered ordering | person | food furniture object |
""")
"Verbs with a second argument after from; for the wide style only."
CLAUSAL = _verbs("""
think thinks thought thought thinking | person | | stative
know knows knew known knowing | person | | stative
say says said said saying | person | |
believe believes believed believed believing | person | | stative
hear hears heard heard hearing | person | | stative
remember remembers remembered remembered remembering | person | | stative
""")
CONTROL = _verbs("""
want wants wanted wanted wanting | person animal | | stative
try tries tried tried trying | person animal | |
need needs needed needed needing | person animal | | stative
hope hopes hoped hoped hoping | person | |
plan plans planned planned planning | person | |
learn learns learned learned learning | person | |
""")
REFLEXIVE = _verbs("""
see sees saw seen seeing | person | | stative
help helps helped helped helping | person | |
hurt hurts hurt hurt hurting | person animal | |
trust trusts trusted trusted trusting | person | | stative
protect protects protected protected protecting | person | |
hide hides hid hidden hiding | person animal | |
enjoy enjoys enjoyed enjoyed enjoying | person | | stative
""")

PREDICATIVE = {
    "person": _words("tired happy angry sad ready hungry famous rich alone late sick strong busy calm"),
    "animal": _words("tired hungry calm small strong quiet dangerous young"),
    "object": _words("old new heavy expensive broken clean dirty small"),
    "furniture": _words("old new heavy expensive broken clean dirty empty"),
    "text": _words("long old famous strange important short"),
    "food": _words("fresh cold sweet good bad ready"),
    "place": _words("old empty quiet beautiful famous dark open"),
    "landmark": _words("old beautiful dangerous famous"),
    "vehicle": _words("old new fast slow expensive broken full"),
}
ATTRIBUTIVE = {
    "person": _words("old young tall poor rich famous kind clever strange quiet brave nice"),
    "animal": _words("old young big small brown black white wild hungry"),
    "object": _words("old new heavy large expensive broken small golden"),
    "furniture": _words("old new heavy large wooden small"),
    "text": _words("long old famous strange short new"),
    "food": _words("fresh cold sweet large small"),
    "place": _words("old new small large quiet beautiful dark"),
    "landmark": _words("old large beautiful dark small"),
    "vehicle": _words("old new big small red fast"),
}
PREPOSITIONS = {
    "person": _phrases("near person, behind person, beside landmark, near place, with animal, with object, from place"),
    "animal": _phrases("near person, behind landmark, beside animal, near place, from place"),
    "object": _phrases("near furniture, on furniture, under furniture, behind furniture, beside object, near landmark"),
    "furniture": _phrases("near landmark, beside furniture, behind landmark, from place"),
    "text": _phrases("about person, about animal, about place, from person, on furniture, near object"),
    "food": _phrases("on furniture, near object, from person, from place"),
    "place": _phrases("near landmark, behind place, beside landmark, near place"),
    "landmark": _phrases("near place, behind place, beside place"),
    "vehicle": _phrases("near place, behind landmark, beside vehicle, in place"),
}
'What can modify a noun of each kind: a preposition and the kind of noun after it ("the letters about the queen").'
PLACES = {
    kind: tuple(phrase for phrase in PREPOSITIONS[kind] if phrase.split()[0] in ("near", "on", "under", "behind", "in"))
    for kind in _phrases("object, text, food, vehicle")
}
"Where things can be."
LOCATIONS = _phrases("in place, in place, near place, near landmark, beside landmark, behind place, near vehicle")
TIMES = {
    "past": _phrases("yesterday, last night, last week, last summer, that morning, that evening, that day"),
    "present": _phrases("every day, every morning, every week, every night, every summer, these days"),
    "now": _phrases("now, today, this morning, tonight"),
    "perfect": _phrases("today, this morning, this week"),
    "future": _phrases("tomorrow, soon, tonight, next week, next summer"),
}
GENERAL = {kind: _nouns(kind, kind)[0] for kind in ("animal", "vehicle", "place", "object")}
"The general noun for a kind, by which the only one of its kind can be mentioned again."
FREQUENCY = ("often", "usually", "always", "sometimes", "never", "rarely")
MANNER = ("slowly", "quietly", "carefully", "happily")
DATES = _phrases("on Monday, on Tuesday, on Friday, on Sunday, in the morning, in the evening, at night")
FEELINGS = _phrases("afraid of, proud of, tired of, angry with, happy with")
