"""Read what ended or began: jobs left, habits stopped, things bought and sold, marriages."""

from mnemark.extraction.candidate import Found, is_program
from mnemark.extraction.english_objects import is_general, joined
from mnemark.extraction.english_parse import Said
from mnemark.extraction.english_phrases import NUMBERS, noun_phrase
from mnemark.extraction.english_words import ANIMALS, GOODS, class_of, singular


def read_turn(said: Said, who: str) -> list[Found]:
    """Read an age that was reached: "turned 21"."""
    number = said.low[0] if len(said.low) == 1 else ""
    good = (
        number.isdecimal()
        and said.tense in {"past", "perfect"}
        and 3 <= int(number) <= 110
        and not said.negative
    )
    return [Found(who, "age", number)] if good else []


def read_stop(said: Said, who: str) -> list[Found]:
    """Read what ended: a habit, a job, an employer."""
    if said.tense not in {"past", "perfect"} or said.negative or said.ended or not said.rest or who != "user":
        return []
    low = said.low
    if low[0].endswith("ing") and said.verb != "leave":
        words = list(said.rest)
        return [Found(who, "habits", joined([low[0], *words[1:]]), over=True)] if is_general(words) else []
    return read_leave(said, who) if said.verb != "stop" else []


def read_leave(said: Said, who: str) -> list[Found]:
    """Read an employer that was left."""
    low = said.low
    if said.tense not in {"past", "perfect"} or not said.rest or who != "user":
        return []
    if low[0] in {"my", "the", "from"} and set(low) & {"job", "position", "company"}:
        named = joined(said.rest[low.index("at") + 1 :]) if "at" in low else ""
        return [Found(who, "employer", named, over=True)]
    words = said.rest[1:] if low[0] == "from" else said.rest
    head, _ = noun_phrase(words)
    if (
        said.verb in {"quit", "resign"}
        and head
        and all(word[:1].isupper() for word in head)
        and not is_program(joined(head))
    ):
        return [Found(who, "employer", joined(head), over=True)]
    return []


def read_lose(said: Said, who: str) -> list[Found]:
    """Read a job that was lost."""
    if (
        who == "user"
        and said.tense in {"past", "perfect"}
        and not said.negative
        and said.low[:2] == ("my", "job")
    ):
        return [Found(who, "employer", "", over=True)]
    return []


def read_break(said: Said, who: str) -> list[Found]:
    """Read a partner one broke up with."""
    if said.tense in {"past", "perfect"} and not said.negative and said.low[:1] == ("up",) and said.own:
        return [Found(who, "spouse", "", over=True)]
    return []


def read_separate(said: Said, who: str) -> list[Found]:
    """Read the end of a marriage: "my wife and I separated"."""
    if said.subject == "we" and said.tense in {"past", "perfect"} and not said.negative and not said.rest:
        return [Found(who, "spouse", "", over=True)]
    return []


def read_death(said: Said) -> list[Found]:
    """Read that a pet lives no more."""
    gone = said.verb == "die" or (said.verb == "pass" and said.low[:1] == ("away",))
    noun = said.subject.split(" ")[-1]
    if gone and class_of(noun) == "animal" and said.tense in {"past", "perfect"} and not said.negative:
        return [Found("user", "pets", f"{said.name} ({noun})" if said.name else noun, over=True)]
    return []


def read_get(said: Said, who: str) -> list[Found]:
    """Read marriages, dismissals and what one got."""
    low = said.low
    if said.tense not in {"past", "perfect"} or said.negative or said.ended or not low:
        return []
    if low[0] in {"married", "divorced", "engaged"}:
        gone = [Found(who, "spouse", "", over=True)] if low[0] == "divorced" and who == "user" else []
        return (
            [Found(who, "marital status", low[0]), *gone] if "twice" not in low and "but" not in low else []
        )
    if low[0] in {"fired", "laid"} and who == "user":
        return [Found(who, "employer", "", over=True)]
    return read_buy(said, who)


def read_buy(said: Said, who: str) -> list[Found]:  # noqa: PLR0911 - one question a wording
    """Read purchases of what one has for years, and new pets."""
    if said.tense not in {"past", "perfect"} or said.negative or who != "user":
        return []
    low = said.low
    if not low or low[0] not in NUMBERS - {"no", "many", "some"}:
        return []
    head, more = noun_phrase(said.rest)
    if not is_general(head[1:], longest=5):
        return []
    name = joined(more[1:3]) if more and more[0].casefold() in {"named", "called"} else ""
    at = next((at for at, word in enumerate(head) if at and singular(word) in GOODS | ANIMALS), 0)
    while at + 1 < len(head) and not head[at + 1].islower():  # "Tesla Model 3"; not "puppy two weeks"
        at += 1
    noun = next((one for word in reversed(head[: at + 1]) if (one := singular(word)) in GOODS | ANIMALS), "")
    compound = at + 1 < len(head) and head[at + 1].casefold() not in NUMBERS
    head = () if compound else head[: at + 1]
    if not head:
        return []
    if (
        noun in ANIMALS
        and noun not in {"fish", "chicken", "pig", "animal", "lab", "pet"}
        and said.verb in {"buy", "adopt", "get", "rescue"}
    ):
        value = f"{name} ({noun})" if name else joined(head[1:] if low[0] in {"a", "an", "another"} else head)
        return [Found(who, "pets", value)]
    if noun in GOODS and said.verb in {"buy", "purchase", "get"} and noun != "pool":
        return [Found(who, "purchases", joined(head[1:] if low[0] in {"a", "an", "another"} else head))]
    return []


def read_sell(said: Said, who: str) -> list[Found]:
    """Read what was sold."""
    if (
        said.tense not in {"past", "perfect"}
        or said.negative
        or who != "user"
        or len(said.rest) < 2
        or said.low[0] not in {"my", "our"}
    ):
        return []
    head, _ = noun_phrase(said.rest[1:])
    return (
        [Found(who, "possessions", joined(head), over=True)] if head and singular(head[-1]) in GOODS else []
    )
