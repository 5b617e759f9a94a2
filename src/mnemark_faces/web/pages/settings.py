"""Settings: the language, whether the memory is off the record, and who is let in where."""

from datetime import UTC, datetime, timedelta
from typing import Final

from mnemark.errors import UsageError
from mnemark.files import off_record, user_config
from mnemark.files.user_settings import set_language
from mnemark.present.words import LANGUAGES
from mnemark_faces.web.at import At, Go, PageContent
from mnemark_interfaces.http.door import UI
from mnemark_interfaces.render import from_home

_LENGTHS: Final = {"hour": timedelta(hours=1), "day": timedelta(days=1), "": None}


def settings(at: At) -> PageContent:
    """Show the settings."""
    values = {
        "languages": LANGUAGES, "chosen": user_config.load().language,
        "file": from_home(str(user_config.path())), "browsers": at.door.browsers if at.door else 0,
        "host": f"http://{at.host}", "bookmark": f"{UI}/{at.base.rpartition('/')[2]}",
    }  # fmt: skip
    span = off_record.load(at.root).current(at.now)
    off = None if span is None else {"since": span.begin, "until": span.end}
    return PageContent("settings.html", values, {"language": values["chosen"], "off_record": off})


def save(at: At) -> Go:
    """Set the language, or let no browser in any more.

    Raises:
        UsageError: there is no such language.
        ConfigError: the configuration is wrong.
    """
    if at.sent("do") == "sign-out":
        if at.door is not None:
            at.door.sign_out()
        return Go(at.base)
    language = at.sent("language")
    if language not in {"", *LANGUAGES}:
        raise UsageError(f"there is no language {language!r}; choose one of {', '.join(LANGUAGES)}")
    set_language(language)
    return at.back("settings")


def pause(at: At) -> Go:
    """Go off the record for as long as the form says, or go on recording."""
    at.memory.workspace.check_writable("pause")
    if at.sent("do") == "end":
        off_record.end(at.root)
        at.tell("What is said is recorded again.")
    else:
        length = _LENGTHS.get(at.sent("length"))
        off_record.begin(at.root, None if length is None else datetime.now(UTC) + length)
    return at.back("settings")
