"""Text for simulated pages: sentences drawn once from a seed, combined by a hash."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

_STARTS = "ba be bo da de do fa fe fi ga go ka ke la le li lo ma me mi na ne no pa pe po ra re ri sa se so ta te ti va"
_ENDS = "l n r s t nd rk st m x th d"
_SENTENCES = 256
_WORDS = 10  # of a sentence


class Sentences:
    """A stock of sentences from which texts are made.

    Examples
    --------
    >>> sentences = Sentences(seed=1)
    >>> len(sentences.text("page 7", 3).split())
    30
    >>> sentences.text("page 7", 3) == sentences.text("page 8", 3)
    False
    """

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng([seed, 1])
        starts, ends = _STARTS.split(), _ENDS.split()
        words = [a + b + c for a in starts for b in starts for c in ends]
        drawn: list[list[int]] = draw.integers(len(words), size=(_SENTENCES, _WORDS)).tolist()
        self._stock = [" ".join(words[i] for i in row).capitalize() + "." for row in drawn]

    def text(self, about: str, count: int) -> str:
        """Return the text determined by `about`, of `count` sentences, at most 64."""
        picked = blake2b(about.encode(), digest_size=count).digest()
        return " ".join(self._stock[byte] for byte in picked)


def page(title: str, paragraphs: Iterable[str], links: Iterable[str], unfollowed: Iterable[str] = ()) -> bytes:
    """Return HTML with these paragraphs and links, the last of them with rel=nofollow."""
    anchors = [f'<a href="{link}">{link}</a>' for link in links]
    anchors += [f'<a rel=nofollow href="{link}">{link}</a>' for link in unfollowed]
    text = "".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs)
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>\n<h1>{title}</h1>\n{text}"
        f"<p>{' '.join(anchors)}</p></html>\n"
    ).encode()
