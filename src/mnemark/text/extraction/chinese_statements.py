"""Tell lasting Chinese sentences about the speaker from passing ones."""


def topic_of(sentence: str) -> str:
    """Return the topic of a sentence that is plainly lasting and about the speaker's life; else ""."""
    return ""
