"""Text in the encodings of the web: what browsers decode, where Python's codec of the same name knows less.

Python's `shift_jis` and `euc_kr` lack the characters that Windows added and pages use, such as a circled one; browsers
decode these encodings as Python's `cp932` and `cp949`. Its `big5hkscs` and `euc_jp` are near what browsers do; the rest
stands here.

References
----------
The Encoding Standard, https://encoding.spec.whatwg.org/
"""

import codecs
from functools import cache

import webencodings

_C1 = range(0x80, 0xA0)
_MOST_LOOKED_UP = 200_000  # pairs that may be looked up for one text, 0.2 s; of a text with more, none is
_LOST = "\ufffd"

_PYTHONS = {
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "iso-2022-jp": "iso2022_jp_ext",
}
_WRITERS = {"shift_jis": "cp932", "euc-kr": "cp949", "big5": "cp950"}
_JAPANESE = {
    "\u301c": "\uff5e",
    "\u2016": "\u2225",
    "\u2212": "\uff0d",
    "\xa2": "\uffe0",
    "\xa3": "\uffe1",
    "\xac": "\uffe2",
}
_CHINESE = {"\ue5e5": "\u3000", "\ue7c7": "\u1e3f"}
_OTHERS = {
    "shift_jis": {"\uf8f0": _LOST, "\uf8f1": _LOST, "\uf8f2": _LOST, "\uf8f3": _LOST},
    "euc-jp": _JAPANESE,
    "iso-2022-jp": _JAPANESE,
    "gbk": _CHINESE,
    "gb18030": _CHINESE,
    "big5": {
        "\u2022": "\u2027", "\uff64": "\ufe51", "\u203e": "\xaf", "\u223c": "\uff5e", "\u2641": "\u2295",
        "\u2609": "\u2299", "\xa5": "\uffe5", "\xa2": "\uffe0", "\xa3": "\uffe1",
    },
}  # fmt: skip
"""Of an encoding, characters that Python's codec decodes, and those of browsers."""

_BYTES = {"koi8-u": {0xAE: "\u045e", 0xBE: "\u040e"}, "windows-1255": {0xCA: "\u05ba"}}
_BIG5 = (
    "877a㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆 "
    "87be㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋 8e69箸 8e6f簆 8e7e糎 8eab緒 8eb4縝 "
    "8ecd者 8ed0耨 8f57菁 8f69蒨 8f6e萏 8fcb覦覩 8ffe起 906d都 907a銹 90dc靜 90f1響 91bf鼖 9244蔃 92af兙兛兝兞 "
    "92c8鍮 92d1瑹 9447浧 94ca禛 95d9邗 9644靝 96ed瀞 96fc嬨 9b76爁 9b78矗 9b7b纇 9bc6駖 9bde釔 9bec惞 9bf6澶 "
    "9c42輶 9c53侻 9c62營 9c68鄄 9c6b鷰 9c77菏 9cbc尐秣 9cd0婧 9d57輋 9d5a筑 9dc4拐 9ea9恢 9eef痹 9efd汊 9f60鬮 "
    "9f66鼗 9fcb僭 9fd8弌 a063蠏 a077拎 a0d5瑨 a0df煢 a0e4牐 a3c0␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟␡€ c6cf廴 c6d3无 "
    "c6d5癶 c6d7隶 c6de〃仝 fa5f倩 fa66偽 fabd包 fac5卄 fad5卿 fb48嘅 fbb8婷 fbf3幵 fbf9廐 fc4f彘 fc6c悤 fcb9撐 "
    "fce2晴 fcf1杞 fdb7沜渝 fdbb港 fdf1煮 fe52猪 fe6f瑜 feaa瓩 fedd砉 "
)
"""Pairs that `big5hkscs` does not decode: the first of each run, and the characters of it and of those after it."""


def decoded(body: bytes, name: str) -> str:
    r"""Return the text of `body` in an encoding, given by its name in the standard; what is invalid becomes U+FFFD.

    Examples
    --------
    >>> decoded(b"\x87\x40", "shift_jis"), decoded(b"\xad\xa1", "euc-jp"), decoded(b"\x80\x81", "windows-1252")
    ('①', '①', '€\x81')
    """
    table = _single(name)
    if table is not None:
        return codecs.charmap_decode(body, "replace", table)[0]  # pyright: ignore[reportArgumentType]
    if name == "euc-jp":
        body = body.replace(b"\x8f\xa2\xb7", b"\xa1\xc1")  # a tilde; no other character contains 8F
    codec = _codec(_PYTHONS, name)
    text = codec.decode(body, "replace")[0]
    if name in _LOOKED_UP and 0 < text.count(_LOST) <= _MOST_LOOKED_UP and _leads(body, name) <= _MOST_LOOKED_UP:
        text = codec.decode(body, f"evercrawl.{name}")[0]
    for theirs, ours in _OTHERS.get(name, {}).items():
        text = text.replace(theirs, ours)
    return text


def encoded(text: str, name: str) -> bytes:
    r"""Return the bytes of text in an encoding of browsers; what it lacks becomes a character reference.

    Examples
    --------
    >>> encoded("\xe9\x81\u4e2d", "windows-1252"), encoded("\u4e2d", "utf-16le"), encoded("\u2460", "shift_jis")
    (b'\xe9\x81&#20013;', b'\xe4\xb8\xad', b'\x87@')
    """
    table = _single(name)
    if table is not None:
        return codecs.charmap_encode(text, "xmlcharrefreplace", _written(table))[0]
    if _OTHERS.get(name) is _JAPANESE:
        for theirs, ours in _JAPANESE.items():
            text = text.replace(ours, theirs)
    return _codec(_WRITERS, "utf-8" if name.startswith("utf-16") else name).encode(text, "xmlcharrefreplace")[0]


def _codec(others: dict[str, str], name: str) -> codecs.CodecInfo:
    if name in others:
        return codecs.lookup(others[name])
    encoding = webencodings.lookup(name)
    assert encoding is not None, f"{name} did not come from the table"
    return encoding.codec_info


@cache
def _single(name: str) -> str | None:
    """Return the characters of the 256 bytes in an encoding where each stands for one; None for another encoding."""
    if not name.startswith(("windows-", "koi8-")):
        return None
    codec, rest = _codec({}, name), _BYTES.get(name, {})
    texts = [codec.decode(bytes([code]), "replace")[0] for code in range(0x100)]
    return "".join(
        rest.get(code, chr(code) if text == _LOST and code in _C1 else text) for code, text in enumerate(texts)
    )


_written = cache(codecs.charmap_build)


@cache
def _pairs(name: str) -> dict[bytes, str]:
    """Return the pairs of an encoding that Python's codec does not decode, with their characters."""
    if name == "big5":
        places = {code: place for place, code in enumerate(_BIG5_CODES)}
        runs = [(places[bytes.fromhex(run[:4])], run[4:]) for run in _BIG5.split()]
        return {_BIG5_CODES[first + at]: char for first, chars in runs for at, char in enumerate(chars)}
    shift = 0x80 if name == "euc-jp" else 0
    found = dict[bytes, str]()
    for row in (13, *range(89, 93)):  # of NEC, which Windows kept
        for cell in range(1, 95):
            lead = (row + 1) // 2 + (0x80 if row < 63 else 0xC0)
            trail = cell + (0x9E if row % 2 == 0 else 0x3F if cell < 64 else 0x40)
            char = bytes([lead, trail]).decode("cp932", "replace")
            if char != _LOST:
                found[bytes([row + 0x20 + shift, cell + 0x20 + shift])] = char
    return found


def _leads(body: bytes, name: str) -> int:
    """Return how many bytes of a text may begin a pair to look up.

    There may be more than the codec replaced: it skips the first byte of such a pair, and may take the second together
    with the byte after it for a pair.
    """
    return 0 if name == "iso-2022-jp" else sum(map(body.count, {pair[0] for pair in _pairs(name)}))


_BIG5_CODES = [
    bytes([lead, trail]) for lead in range(0x81, 0xFF) for trail in (*range(0x40, 0x7F), *range(0xA1, 0xFF))
]  # fmt: skip


def _looking_up(name: str) -> str:
    """Make Python's codec look up what it cannot decode; return the name of the encoding."""

    def look(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError), "it only decodes"
        char = _pairs(name).get(error.object[error.start : error.start + 2])
        return (_LOST, error.end) if char is None else (char, error.start + 2)

    codecs.register_error(f"evercrawl.{name}", look)
    return name


_LOOKED_UP = frozenset(map(_looking_up, ("big5", "euc-jp", "iso-2022-jp")))
