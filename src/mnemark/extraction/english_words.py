"""List English words by what they mean, for the grammar of what people say of themselves.

Nouns are in the singular (`class_of` takes plurals, too), verbs in the base form.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text; "_" stands for a blank inside of one."""
    return frozenset(word.replace("_", " ") for word in text.split())


CHILDREN: Final = word_set(
    "child kid son daughter baby toddler teenager twin triplet stepson stepdaughter stepchild boy girl"
)
SIBLINGS: Final = word_set("brother sister sibling stepbrother stepsister half-brother half-sister")
PARTNERS: Final = word_set(
    "wife husband spouse partner boyfriend girlfriend fiance fiancé fiancee fiancée hubby bf gf"
)
PARENTS: Final = word_set(
    "mother father mom mum dad mommy daddy mama papa parent stepmother stepfather stepmom stepdad"
)
RELATIVES: Final = word_set(
    "grandmother grandfather grandma grandpa granny grandparent grandson granddaughter grandchild grandkid aunt uncle "
    "cousin niece nephew mother-in-law father-in-law sister-in-law brother-in-law in-law son-in-law daughter-in-law godmother "
    "godfather godson goddaughter ex-wife ex-husband great-grandmother great-grandfather"
)
OTHER_PEOPLE: Final = word_set(
    "friend roommate flatmate housemate neighbor neighbour colleague coworker co-worker boss manager mentor teacher coach "
    "family folk ancestor therapist doctor landlord"
)
KIN: Final = CHILDREN - word_set("boy girl baby twin teenager") | SIBLINGS | PARTNERS | PARENTS | RELATIVES
ANIMALS: Final = word_set(
    "dog cat puppy pup kitten kitty rabbit bunny parrot hamster horse pony turtle tortoise fish goldfish bird budgie "
    "parakeet cockatiel lizard gecko iguana snake python ferret chicken hen rooster duck goose goat sheep cow pig donkey "
    "alpaca llama guinea_pig rat mouse chinchilla hedgehog spider tarantula frog axolotl bee hound terrier poodle labrador lab "
    "retriever shepherd husky beagle bulldog pug chihuahua corgi collie doodle goldendoodle labradoodle dachshund rottweiler "
    "boxer doberman pinscher pitbull dalmatian spaniel schnauzer mastiff shih-tzu maltese pomeranian greyhound siamese "
    "tabby persian ragdoll pet animal"
)
VEHICLES: Final = word_set(
    "car truck van motorcycle motorbike scooter moped bicycle bike suv jeep sedan convertible minivan boat sailboat yacht rv "
    "camper motorhome tractor pickup toyota honda ford chevy chevrolet bmw audi mercedes tesla lexus nissan mazda subaru "
    "volkswagen vw volvo hyundai kia porsche ferrari mustang corvette prius civic corolla jaguar harley kayak canoe e-bike hummer"
)
DWELLINGS: Final = word_set(
    "house home apartment flat condo cabin cottage farm ranch mansion townhouse bungalow studio loft trailer villa garden yard "
    "pool land property farmhouse dorm duplex greenhouse balcony"
)
INSTRUMENTS: Final = word_set(
    "piano guitar bass violin viola cello drum saxophone sax trumpet trombone flute clarinet oboe harp ukulele banjo mandolin "
    "accordion harmonica keyboard organ tuba fiddle bagpipe synth synthesizer percussion horn recorder"
)
DEVICES: Final = word_set(
    "laptop computer pc macbook phone iphone ipad tablet camera printer drone telescope console xbox playstation tv "
    "television monitor smartwatch kindle e-reader server nas router raspberry_pi 3d-printer thinkpad"
)
OBJECTS: Final = word_set(
    "gun collection book record vinyl tattoo piercing business company store shop restaurant blog website channel podcast "
    "youtube_channel sewing_machine pension ticket toy costume sword studio card doll coin stamp art painting bakery startup "
    "cafe café band bar boutique library subscription membership tool"
)
BODY: Final = word_set(
    "hair eye beard mustache moustache freckle dimple skin glasses scar nose foot feet muscle height voice brain build body leg arm "
    "hand accent braces finger tooth teeth"
)
ILLNESSES: Final = word_set(
    "diabetes asthma cancer anxiety depression adhd autism epilepsy migraine arthritis insomnia hypertension allergy "
    "dyslexia ptsd ocd bipolar celiac crohn anemia eczema psoriasis disease disorder syndrome condition disability "
    "fibromyalgia lupus schizophrenia scoliosis tinnitus phobia addiction sclerosis apnea cholesterol intolerance "
    "endometriosis gout hypothyroidism osteoporosis glaucoma deficiency stroke pacemaker"
)
STUDIES: Final = word_set(
    "degree diploma phd doctorate bachelor master mba major minor license licence certificate certification scholarship education ged gpa"
)
SPORTS: Final = word_set(
    "football soccer basketball baseball tennis golf volleyball hockey rugby cricket badminton squash softball lacrosse polo "
    "gymnastics karate judo taekwondo yoga pilates boxing wrestling fencing archery chess poker darts billiards pool "
    "bowling table_tennis ping-pong handball frisebee frisbee dodgeball sports games video_games videogames kickball bridge "
    "cards dominoes paintball dungeons crossfit ballet bingo pickleball"
)
DIETS: Final = word_set(
    "vegetarian vegan pescatarian flexitarian keto kosher halal gluten-free carnivore paleo omnivore dairy-free lactose-intolerant"
)
GOODS: Final = VEHICLES | DWELLINGS - word_set("home land property yard") | DEVICES | INSTRUMENTS
"""What one buys, sells and has for years."""

_JOBS: Final = word_set(
    "engineer developer programmer manager nurse teacher doctor designer scientist analyst researcher lawyer accountant "
    "writer administrator architect consultant professor physician journalist founder translator photographer electrician "
    "chef pharmacist dentist editor freelancer contractor carpenter pilot librarian economist musician technician therapist "
    "director recruiter tester physicist biologist chemist banker barista bartender waiter waitress server cook baker butcher "
    "farmer rancher gardener florist plumber mechanic welder painter builder bricklayer roofer mason driver trucker "
    "courier mailman postman policeman policewoman officer detective firefighter fireman paramedic soldier sailor general "
    "sergeant captain veteran guard lifeguard janitor cleaner maid housekeeper housewife homemaker nanny babysitter "
    "caregiver caretaker secretary receptionist assistant clerk cashier salesman saleswoman salesperson realtor broker agent "
    "trader investor auditor actuary bookkeeper judge attorney paralegal politician mayor senator diplomat psychologist "
    "psychiatrist counselor counsellor social_worker surgeon veterinarian vet optometrist radiologist cardiologist midwife "
    "dietitian nutritionist trainer coach instructor tutor lecturer principal superintendent author novelist poet blogger "
    "vlogger youtuber streamer podcaster reporter copywriter publisher actor actress comedian dancer ballerina singer "
    "rapper dj drummer guitarist pianist violinist songwriter composer producer filmmaker cinematographer animator "
    "illustrator artist sculptor potter jeweler tailor seamstress stylist hairdresser hairstylist barber beautician model "
    "athlete footballer boxer wrestler swimmer referee jockey gymnast entrepreneur owner ceo cto cfo executive supervisor "
    "foreman inspector surveyor geologist geographer archaeologist historian anthropologist sociologist philosopher "
    "theologian priest pastor minister monk nun rabbi imam missionary chaplain astronaut astronomer mathematician "
    "statistician astrophysicist zoologist zookeeper botanist ecologist meteorologist linguist interpreter curator tiler "
    "joiner locksmith blacksmith optician chiropractor masseuse masseur magician clown performer stuntman bodyguard "
    "butler valet porter bellhop concierge flight_attendant stewardess steward conductor machinist operator fisherman "
    "hunter lumberjack miner logger beekeeper winemaker brewer sommelier caterer dishwasher dog_walker groomer sysadmin "
    "admin webmaster moderator intern apprentice postdoc adviser advisor planner organizer strategist marketer specialist "
    "representative rep associate coordinator paraprofessional typist bouncer landscaper undertaker mortician crossing_guard student "
    "plasterer cellist oncologist pediatrician neurologist dermatologist anesthesiologist orthodontist hygienist phlebotomist "
    "cop trooper dean mc announcer player proofreader bookseller stockbroker hairstylist plumber shopkeeper businessman businesswoman stagehand sheriff firewoman mover shortstop quarterback goalkeeper pitcher figure_skater cheerleader umpire scout"
)
_TITLES: Final = word_set(
    "general officer captain guard scout model minor server agent owner organizer operator hunter boxer minister"
)
"""Titles that are jobs with words before them, or after "a"."""
ROLES: Final = word_set(
    "man woman male female guy girl boy lady person adult teenager teen senior grandmother grandfather grandma grandpa "
    "mother father mom mum dad parent wife husband widow widower bachelor bachelorette twin orphan triplet child aunt uncle "
    "brother sister christian muslim jew buddhist hindu catholic protestant atheist agnostic mormon baptist methodist "
    "republican democrat liberal conservative feminist activist environmentalist libertarian socialist immigrant refugee "
    "native american canadian citizen virgo leo aries taurus gemini cancer libra scorpio sagittarius capricorn aquarius "
    "pisces introvert extrovert extravert loner perfectionist workaholic shopaholic alcoholic smoker drinker nerd geek redhead "
    "blonde blond brunette vegetarian vegan pescatarian carnivore meat-eater foodie runner jogger hiker cyclist climber "
    "surfer skier snowboarder skater gamer reader collector hoarder hunter traveler traveller volunteer lover fan fanatic "
    "enthusiast buff addict member graduate freshman sophomore junior dropout major minor night_owl owl bird morning_person "
    "homebody adrenaline_junkie junkie romantic optimist pessimist realist dreamer believer survivor amputee eater drinker "
    "owner breadwinner beginner swimmer dancer singer hippie goth punk biker cowboy cowgirl southerner northerner "
    "texan californian german french italian spaniard brit briton englishman scot swede dane dutchman russian gymnast "
    "triathlete baker cook gardener painter fisherman homeowner recluse minimalist patriot pacifist socialite neat-freak "
    "rocker outdoorsman outdoorswoman freak diabetic insomniac asthmatic teetotaler wanderer nomad history_buff"
)
TRAITS: Final = word_set(
    "tall short thin slim skinny overweight obese fat chubby muscular athletic strong fit blind deaf mute bald blonde blond "
    "brunette redheaded ginger left-handed right-handed lefthanded ambidextrous colorblind colourblind color-blind "
    "near-sighted nearsighted farsighted diabetic asthmatic autistic dyslexic bipolar epileptic disabled paralyzed "
    "handicapped depressive shy introverted extroverted outgoing quiet talkative friendly kind honest loyal generous "
    "lazy clumsy organized tidy messy neat punctual competitive ambitious adventurous creative artistic musical athletic "
    "stubborn picky funny smart intelligent bilingual trilingual multilingual fluent religious spiritual "
    "superstitious sentimental frugal thrifty rich wealthy poor broke famous popular retired unemployed self-employed "
    "single married divorced separated widowed engaged gay lesbian bisexual straight queer asexual transgender nonbinary "
    "non-binary trans polyamorous adopted orphaned homeless homeschooled vegan vegetarian pescatarian christian catholic muslim "
    "jewish buddhist hindu atheist agnostic mormon american canadian british english scottish irish welsh french german "
    "italian spanish portuguese dutch belgian swiss austrian polish czech hungarian russian ukrainian greek turkish "
    "mexican brazilian argentinian colombian cuban chinese japanese korean vietnamese thai filipino indian pakistani "
    "bangladeshi indonesian australian african asian hispanic latino latina black white native iranian iraqi egyptian "
    "nigerian kenyan ethiopian jamaican swedish norwegian danish finnish male female pregnant sober allergic "
    "claustrophobic lactose-intolerant gluten-free pale petite elderly lanky active sociable outdoorsy retired  attractive beautiful handsome ugly pretty old-fashioned "
    "conservative liberal democratic republican patient impatient reserved independent sensitive social anti-social antisocial "
    "childless infertile insecure impulsive forgetful "
    "hard-working hardworking right-brained self-taught well-traveled educated uneducated tattooed hairy insured bookish nerdy geeky "
)
MARITAL: Final = word_set("single married divorced separated widowed engaged")
LANGUAGES: Final = word_set(
    "english german french spanish italian portuguese dutch chinese mandarin cantonese japanese korean russian polish "
    "turkish arabic hindi swedish norwegian danish finnish greek czech ukrainian vietnamese thai indonesian hebrew hungarian "
    "romanian latin swahili urdu bengali tamil punjabi persian farsi tagalog malay catalan irish welsh gaelic icelandic "
    "croatian serbian bulgarian slovak esperanto asl"
)
COUNTRIES: Final = word_set(
    "america usa us uk england scotland wales ireland britain canada mexico germany france italy spain portugal netherlands "
    "holland belgium switzerland austria poland czechia hungary romania bulgaria greece turkey russia ukraine sweden norway "
    "denmark finland iceland estonia latvia lithuania china japan korea south_korea vietnam thailand philippines indonesia malaysia india "
    "pakistan bangladesh nepal iran iraq israel egypt morocco nigeria kenya ethiopia ghana south_africa brazil argentina "
    "chile peru colombia venezuela cuba jamaica australia new_zealand taiwan saudi_arabia united_states united_kingdom croatia serbia "
    "slovenia slovakia cyprus malta tunisia algeria ecuador bolivia uruguay panama"
)
REGIONS: Final = word_set(
    "alabama alaska arizona arkansas california colorado connecticut delaware florida hawaii idaho illinois indiana "
    "iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana nebraska "
    "nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia wisconsin wyoming new_hampshire "
    "new_jersey new_mexico north_carolina south_carolina north_dakota south_dakota rhode_island west_virginia ontario quebec bavaria "
    "tuscany provence cornwall yorkshire alberta manitoba queensland tasmania europe asia africa midwest"
)
HABITS: Final[Mapping[str, str]] = MappingProxyType({
    verb: topic
    for topic, verbs in {
        "work": "invest teach coach tutor supervise freelance manage run own sell mentor commute telecommute design program preach babysit",
        "study": "study major attend homeschool",
        "food": "eat drink cook bake grill brew diet fast avoid order barbecue",
        "leisure": "play hike fish hunt swim travel knit crochet sew quilt garden dance sing paint draw sketch write blog read "
        "ski snowboard skate skateboard surf grow sail climb camp cycle bike ride jog run box lift bowl golf act perform "
        "collect photograph compose sculpt juggle fence watch listen party gamble kayak canoe row dive snorkel stream "
        "shop craft whittle scrapbook sunbathe race cosplay rap model hunt weld parasail bow volunteer bodyboard",
        "habits": "do get come go exercise meditate pray walk wake sleep smoke vape wear shower journal train practice practise nap gossip bite "
        "stay visit use drive take attend recycle donate swear procrastinate oversleep snore binge dye shave chew call work dress",
        "skills": "speak code weld whistle",
        "beliefs": "believe worship vote support value identify oppose",
        "people": "babysit date foster adopt raise miss",
        "health": "suffer medicate limp stutter",
        "possessions": "own collect rent lease hoard drive keep",
        "self": "weigh fear consider dream struggle hate lack procrastinate",
    }.items()
    for verb in verbs.split()
})  # fmt: skip
"""Verbs whose present tense tells a habit, and its topic."""

_CLASSES: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    ("child", CHILDREN), ("sibling", SIBLINGS), ("partner", PARTNERS), ("parent", PARENTS), ("relative", RELATIVES),
    ("animal", ANIMALS), ("vehicle", VEHICLES), ("dwelling", DWELLINGS), ("instrument", INSTRUMENTS), ("device", DEVICES),
    ("object", OBJECTS), ("body", BODY), ("illness", ILLNESSES), ("study", STUDIES), ("sport", SPORTS), ("person", OTHER_PEOPLE),
    ("job", _JOBS),
)  # fmt: skip
_CLASS: Final = {word: name for name, words in reversed(_CLASSES) for word in words}
_IRREGULAR: Final[Mapping[str, str]] = MappingProxyType({
    "children": "child", "wives": "wife", "mice": "mouse", "geese": "goose", "puppies": "puppy", "kids": "kid",
    "ponies": "pony", "bunnies": "bunny", "huskies": "husky", "kitties": "kitty", "feet": "foot", "fishes": "fish",
    "allergies": "allergy", "fiances": "fiance", "chihuahuas": "chihuahua", "buses": "bus", "families": "family",
    "babies": "baby", "stories": "story", "glasses": "glasses", "men": "man", "women": "woman", "degrees": "degree",
    "masters": "master", "bachelors": "bachelor", "wolves": "wolf", "calves": "calf",
})  # fmt: skip
_BASE: Final[Mapping[str, str]] = MappingProxyType({
    "am": "be", "is": "be", "are": "be", "was": "be", "were": "be", "been": "be", "being": "be", "has": "have", "had": "have",
    "does": "do", "did": "do", "done": "do", "goes": "go", "went": "go", "gone": "go", "got": "get", "gotten": "get",
    "grew": "grow", "grown": "grow", "born": "bear", "bought": "buy", "sold": "sell", "taught": "teach", "left": "leave",
    "lost": "lose", "met": "meet", "broke": "break", "gave": "give", "took": "take", "wrote": "write", "written": "write",
    "won": "win", "ran": "run", "began": "begin", "became": "become", "came": "come", "built": "build", "found": "find",
    "founded": "found", "fought": "fight", "spoke": "speak", "swam": "swim", "sang": "sing", "drove": "drive", "rode": "ride",
    "ate": "eat", "drank": "drink", "made": "make", "knew": "know", "thought": "think", "saw": "see", "seen": "see",
    "moved": "move", "died": "die", "passed": "pass", "quit": "quit", "stopped": "stop", "divorced": "divorce", "hates": "hate",
    "loves": "love", "likes": "like", "raised": "raise", "served": "serve", "retired": "retire", "used": "use", "lived": "live",
    "wed": "wed", "bred": "breed", "slept": "sleep", "kept": "keep", "felt": "feel", "said": "say", "told": "tell", "read": "read",
    "graduated": "graduate", "danced": "dance", "changed": "change", "married": "marry", "studied": "study", "dying": "die",
    "teaches": "teach", "watches": "watch", "coaches": "coach", "owned": "own", "resigned": "resign", "chose": "choose",
    "fell": "fall", "heard": "hear", "stood": "stand", "held": "hold", "sent": "send", "sat": "sit", "brought": "bring", "caught": "catch", "forgot": "forget", "understood": "understand", "spent": "spend", "hunted": "hunt", "wore": "wear", "emigrated": "emigrate",
})  # fmt: skip


def class_of(noun: str) -> str:
    """Return what a noun means: "child", "animal", "vehicle", "job" ...; empty if it is in no list.

    >>> class_of("Puppies"), class_of("sisters"), class_of("idea")
    ('animal', 'sibling', '')
    """
    return _CLASS.get(singular(noun), "")


def singular(noun: str) -> str:
    """Return the singular of a noun in small letters.

    >>> [singular(word) for word in ("Wives", "boxes", "dogs", "bass")]
    ['wife', 'box', 'dog', 'bass']
    """
    word = noun.casefold().removesuffix("'s")
    if word in _CLASS or word in ROLES:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("children"):
        return word[:-3]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def is_job(noun: str) -> bool:
    """Return whether a noun names an occupation: in the list, or by its ending."""
    word = singular(noun)
    return word in _JOBS or word.endswith(
        ("ologist", "grapher", "smith", "therapist", "technician", "scientist")
    )


def base(verb: str) -> str:
    """Return the base form of a verb, as far as its ending tells.

    >>> [base(word) for word in ("works", "studied", "taught", "is")]
    ['work', 'study', 'teach', 'be']
    """
    word = verb.casefold()
    if word in _BASE:
        return _BASE[word]
    for ending, more in (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + more
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    if word.endswith("ed") and len(word) > 4:
        return _without_doubling(word[:-2], word[:-1])
    return word


def base_of_gerund(word: str) -> str:
    """Return the base form of a word in -ing; the word itself where it is none.

    >>> [base_of_gerund(word) for word in ("living", "running", "playing", "thing")]
    ['live', 'run', 'play', 'thing']
    """
    low = word.casefold()
    if not low.endswith("ing") or len(low) < 6:
        return {"dying": "die", "being": "be", "doing": "do", "going": "go"}.get(low, low)
    return _without_doubling(low[:-3], low[:-3] + "e")


def _without_doubling(stem: str, with_e: str) -> str:
    if with_e in HABITS or with_e in _E_VERBS:
        return with_e
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    if stem in HABITS or not stem.endswith(("v", "c", "u", "rs", "iz", "at")):
        return stem
    return with_e


_E_VERBS: Final = word_set(
    "live like love hate move retire change use ride drive write smoke bake dance raise serve make take have give date come hike leave cycle skate race prepare"
)


def gerund(verb: str) -> str:
    """Return a verb in -ing.

    >>> [gerund(word) for word in ("run", "bake", "travel", "be", "play", "lie")]
    ['running', 'baking', 'traveling', 'being', 'playing', 'lying']
    """
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")) and len(verb) > 2:
        return verb[:-1] + "ing"
    vowels = [letter in "aeiou" for letter in verb]
    short = (
        len(verb) > 2 and vowels[-3:] == [False, True, False] and sum(vowels) == 1 and verb[-1] not in "wxy"
    )
    return verb + (verb[-1] if short else "") + "ing"
