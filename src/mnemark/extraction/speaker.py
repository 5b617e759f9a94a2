"""Detect text of other speakers: pasted chats, mails and letters, which are in the first person, too."""

import re
from typing import Final

from mnemark.extraction.chinese_words import PERSON
from mnemark.text.lazy_pattern import lazy_pattern

_STAMP: Final = (
    r"(?:[\[(（]?\d{1,4}[-/.:年]\d{1,2}[\d:/. 年月日T-]{0,20}(?:[AaPp][Mm])?[\])）]?,?\s*(?:[-–]\s*)?)?"
)
_LABELLED_EN: Final = lazy_pattern(
    rf"^{_STAMP}(?P<label>[A-Z][\w.'-]*(?: [A-Z(][\w.'-]*\)?){{0,3}}|(?i:fwd|fw|re|from)\b[^:]{{0,40}})(?: ?[\[(][^)\]]{{1,20}}[)\]])?: "
    r"(?:(?i:hi|hello|hey|yes|yeah|no|well|ok|okay|sure)\b[^:]{0,30}[,.!] ?)?(?:I|I'm|I've|I'd|My|my|We|we|We're|We've|Our|our|Call me|[Tt]his is)\b"
)
_SPOKEN: Final = lazy_pattern(
    r"^(?!I\b|(?:[Ll]ike|[Aa]s) (?:I|we)\b|(?:\w+ )?(?:[Tt]hat|[Tt]his|[Aa]ll)(?: being| is)? said, )(?:[\w'-]+ ){1,4}(?:said|says|wrote|writes|replied|answered), |, (?:said|says) [A-Z][\w'-]+\.?$|, [A-Z][\w'-]+ (?:said|says)\.?$|"
    rf"^(?!老[实样]|严[格肃])(?:{PERSON}|我的?(?:老[公婆妈爸板]|[妈爸哥姐弟妹]+|妻子|丈夫|太太|[儿女]+[子儿]?|男友|女友|[男女]?朋友|同事|领导|邻居|室友|闺蜜|医生|律师))(?:说|写道|回复我?)[，,]"
)
"""Tells whose words the others of the sentence are: "Tom said, ..."."""
_SPEAKS: Final = ("said", "says", "wrote", "writes", "replied", "answered", "说", "写道", "回复")
_NOT_A_SPEAKER: Final = lazy_pattern(
    r"(?i)(?:quick |small |important |side )?(?:update|note|notes|ps|p\.s\.|fyi|correction|context|background|reminder|info|work|job|home|"
    r"hobbies|preferences?|location|family|languages?|tools?|editor|setup|profile|bio|intro|introduction|summary|edit|"
    r"addendum|also|important|tl;?dr|btw|attention|decisions?|rules?|facts?|remember|memo|news|about me|hi|hello|hey|status|"
    r"me|myself|owner|ok|okay|yes|no|great|thanks|thank you|sorry|sure|well|right|one more thing|anyway|so)(?: [\w']+)?"
)
"""Labels that are not speakers: "Update: I moved"."""
_LABELLED_ZH: Final = lazy_pattern(
    rf"^{_STAMP}(?:{PERSON}|[^：:，,。]{{0,8}}(?:同事|老板|经理|客户|朋友|妈妈|爸爸|老婆|老公|同学|老师|说|道|写|回复|转发)(?:了|的)?)"
    r"(?:\s?[（(][^）)]{1,20}[）)])?[：:]\s*(?=.{0,8}(?:我|咱))"
)
_ANNOUNCES_OTHERS: Final = lazy_pattern(
    r"(?i)(?:\b(?:wrote|said|says|sent|writes|replied|posted|answered|messages?|e-?mails?|letter|reply|review|comments?|ticket|"
    r"post|bio|cv|resume|tweet|transcript|chat)\b[^.:]{0,40}|(?:写道|说|回复|来信|邮件|消息|评论|留言|原话|简历|聊天记录)[^：:]{0,8}):$"
)
"""Announces that the next lines are of someone else."""
_MAIL: Final = lazy_pattern(
    r"^(?:Subject|Fwd?|主题|发件人|收件人|发送时间)\s?[:：]|^From: .{0,60}[@<]|^-{3,} ?(?:Forwarded|Original)|^-{3,} ?(?:转发|原始)",
    re.MULTILINE,
)
_DEAR: Final = lazy_pattern(r"^(?:Dear|尊敬的|亲爱的) ?[A-Z\u4e00-\u9fff]", re.MULTILINE)
_SIGNED: Final = lazy_pattern(
    r"^(?:(?:Best|Kind|Warm|With) ?(?:regards|wishes)|Regards|Best|Sincerely|Yours|Cheers|Love|"
    r"此致|敬礼|祝好|顺颂)",
    re.MULTILINE,
)


def of_another(sentence: str) -> bool:
    """Return whether a sentence starts with a speaker's name and a colon, as in a pasted chat, or says who spoke.

    >>> of_another("Bob: I live in Paris"), of_another("Update: I live in Paris")
    (True, False)
    """
    if any(word in sentence for word in _SPEAKS) and _SPOKEN.search(sentence):
        return True
    if ":" not in sentence and "：" not in sentence:
        return False
    match = _LABELLED_EN.match(sentence)
    if match is not None:
        return _NOT_A_SPEAKER.fullmatch(match["label"]) is None
    return _LABELLED_ZH.match(sentence) is not None


def hands_over(sentence: str) -> bool:
    """Return whether a sentence announces that the next lines are of someone else."""
    return sentence[-1:] in {":", "："} and _ANNOUNCES_OTHERS.search(sentence[:-1] + ":") is not None


def without_mail(text: str) -> str:
    """Return the text before a pasted mail or letter."""
    if match := _MAIL.search(text):
        text = text[: match.start()]
    dear = _DEAR.search(text)
    return text[: dear.start()] if dear and _SIGNED.search(text, dear.end()) else text
