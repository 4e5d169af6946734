"""The part of a text that answers best."""

from hypothesis import given
from hypothesis import strategies as st

from evercrawl.search.forms import Form
from evercrawl.search.snippet import marked, snippet


def forms(*words: str):
    return tuple((Form(word, 1.0),) for word in words)


def shown(text: str, *words: str, width: int = 60) -> tuple[str, list[str]]:
    found = snippet(text, forms(*words), width)
    return found.text, [found.text[start:end] for start, end in found.marks]


FILLER = "nothing of interest here " * 20


def test_it_is_where_most_of_the_words_stand():
    text = f"tea tea tea {FILLER} green tea from Japan {FILLER} green {FILLER}"
    part, marks = shown(text, "green", "tea", "japan")
    assert marks == ["green", "tea", "Japan"]
    assert part.startswith("… ")
    assert part.endswith(" …")


def test_the_first_of_equally_good_parts_is_taken():
    assert shown(f"tea one {FILLER} tea two", "tea")[0].startswith("tea one")


def test_long_words_count_for_more_than_short_ones():
    assert shown(f"of the of the {FILLER} photosynthesis", "of", "the", "photosynthesis")[1][-1] == "photosynthesis"


def test_it_begins_with_a_sentence_if_one_is_near():
    assert shown(f"{FILLER}. We now drink tea.", "tea")[0] == "… We now drink tea."


def test_only_whole_words_are_marked():
    assert shown("steam teas tea-time (tea)", "tea")[1] == ["tea", "tea"]


def test_every_form_is_marked_as_it_is_written():
    found = snippet("Running, runs, RUN", ((Form("run", 1.0), Form("running", 0.4), Form("runs", 0.4)),))
    assert [found.text[start:end] for start, end in found.marks] == ["Running", "runs", "RUN"]


def test_without_any_of_the_words_it_is_the_beginning():
    part, marks = shown(f"All about it. {FILLER}", "tea")
    assert (part[:13], marks) == ("All about it.", [])
    assert shown("", "tea") == ("", [])


def test_letters_without_a_small_form_of_their_length_move_no_mark():
    assert shown("İİİ tea", "tea") == ("İİİ tea", ["tea"])


def test_a_text_without_spaces_is_cut_all_the_same():
    part, marks = shown("x" * 1000 + " tea " + "y" * 1000, "tea", width=40)
    assert marks == ["tea"]
    assert len(part) < 60


def test_a_title_is_marked_whole():
    assert marked("Tea, and more tea", forms("tea")).marks == ((0, 3), (14, 17))


@given(st.text(alphabet="ab .İß\n", max_size=300), st.integers(1, 80))
def test_marks_are_in_order_within_the_text_and_on_the_words(text, width):
    found = snippet(text, forms("a", "ab", "b"), width)
    assert len(found.text) <= width + 8
    at = 0
    for start, end in found.marks:
        assert at <= start < end <= len(found.text)
        assert found.text[start:end].lower() in ("a", "ab", "b")
        at = end


def test_words_of_ascii_are_found_among_letters_of_any_kind():
    text = "Größe ÅÄÖ İstanbul GREEN Tea 茶 \ud800 tea"
    assert shown(text, "green", "tea")[1] == ["GREEN", "Tea", "tea"]
    assert shown(text, "größe")[1] == ["Größe"]
