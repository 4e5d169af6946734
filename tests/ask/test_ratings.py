"""Ratings of experts: how they are read, and how well measures agree with them."""

import numpy as np
import pytest

from evercrawl.ask.rank.agreement import agreement
from evercrawl.ask.rank.ratings import read_ratings
from evercrawl.errors import ConfigError

NAMES = ["a.example", "b.example", "c.example", "d.example"]


@pytest.fixture
def read(tmp_path):
    """Return what reads a text as a file of ratings."""

    def reads(text: str | bytes, best: int = 4) -> dict[str, dict[str, int]]:
        file = tmp_path / "ratings.csv"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_ratings(file, best)

    return reads


def test_one_rater_and_several_are_read(read):
    assert read("site,rating\na.example,4\nb.example,1\n") == {"": {"a.example": 4, "b.example": 1}}
    assert read("Site;Rater;Rating;remark\na.example;ann;3;old\na.example;bob;2;\n") == {
        "ann": {"a.example": 3},
        "bob": {"a.example": 2},
    }
    assert read("\ufeffrating\tsite\n2\ta.example\n\n") == {"": {"a.example": 2}}


def test_a_site_may_be_written_as_a_host_or_a_url(read):
    text = "site,rating\nWWW.A.example,1\nhttps://b.example:8443/x,2\nhttp://127.0.0.1/,3\nb\u00fccher.example,4\n"
    assert read(text) == {"": {"a.example": 1, "b.example": 2, "127.0.0.1": 3, "xn--bcher-kva.example": 4}}


def test_ratings_can_be_the_other_way_round(read):
    assert read("site,rating\na.example,1\nb.example,4\n", best=1) == {"": {"a.example": 4, "b.example": 1}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a.example,4\n", "line 1: it names the columns a.example, 4; it must be a CSV file with the columns site"),
        ("", "line 1: it names the columns of nothing"),
        ("site,rating\n", "rates no site"),
        ("site,rating\na.example,4\nb.example,5\n", "line 3: the rating is '5'; it must be 1, 2, 3 or 4"),
        ("site,rating\na.example\n", "line 2: the rating is ''"),
        ("site,rating\na.example,3.5\n", "line 2: the rating is '3.5'"),
        ("site,rating\n,3\n", "line 2: '' is not a site; write it as example.org"),
        ("site,rating\na.example,3\nwww.a.example,4\n", "line 3: a.example was rated on line 2 already"),
        ("site,rater,rating\na.example,x,3\n\na.example,x,3\n", "line 4: x rated a.example on line 2 already"),
        ("site,rating,Site\na.example,3,b.example\n", "line 1: there are several columns site; leave one of them"),
        ("site,rating,rating\na.example,3,4\n", "line 1: there are several columns rating"),
        ("rater,site,rating,rater\nx,a.example,3,y\n", "line 1: there are several columns rater"),
        ("site,rating\na.example,3\nb.example,3,4\n", "line 3: there are 3 fields for 2 columns; quote what has"),
        (b"site,rating\n\xff\xfe,3\n", "is not UTF-8 text"),
        ("x" * 200_000, "line 1: field larger than"),
        (f"site,rating\n{'x' * 200_000},3\n", "line 2: field larger than"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(read, text, said):
    with pytest.raises(ConfigError) as error:
        read(text)
    assert said in str(error.value)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read .*none.csv: No such file"):
        read_ratings(tmp_path / "none.csv")


def test_measures_are_cut_in_the_proportions_of_each_rater():
    ratings = {
        "ann": {"a.example": 4, "b.example": 3, "c.example": 2, "d.example": 1},
        "bob": {"a.example": 4, "b.example": 1, "c.example": 1, "e.example": 2},
    }
    good, bad = np.array([4.0, 3.0, 2.0, 1.0]), np.array([1.0, 2.0, 3.0, 4.0])
    found = agreement(ratings, NAMES, {"good": good, "bad": bad})
    ann, bob = found.raters
    assert ann.measures == {"good": 1.0, "bad": 0.0}
    assert bob.measures == pytest.approx({"good": 1.0, "bad": 1 / 3})  # b.example alone keeps its rank
    assert (ann.rated, bob.rated, found.unknown) == (4, 3, ["e.example"])
    assert found.measures == pytest.approx({"good": 1.0, "bad": 1 / 6})
    assert found.pairs == [ann.others] == [bob.others] == pytest.approx([1 / 3])
    assert ann.chance == pytest.approx(0.25)
    assert bob.chance == pytest.approx(5 / 9)


def test_the_mean_of_the_ratings_is_the_reference_and_each_rater_is_held_against_it():
    ratings = {name: {site: int(rating) for site, rating in zip(NAMES, of, strict=True)}
               for name, of in (("x", "4311"), ("y", "4311"), ("z", "1341"))}  # fmt: skip
    found = agreement(ratings, NAMES, {"m": np.array([9.0, 8.0, 1.0, 2.0])})
    assert [rater.mean_rating for rater in found.raters] == [0.5, 0.5, 0.5], "the mean is 3, 3, 2, 1"
    assert found.mean_rating == {"m": 0.5}
    assert found.pairs == [0.5, 0.5, 1.0]


def test_where_no_rated_site_is_known_there_is_no_agreement():
    found = agreement({"": {"z.example": 1}}, NAMES, {"m": np.ones(4)})
    assert found.unknown == ["z.example"]
    assert np.isnan(found.measures["m"])
    assert np.isnan(found.mean_rating["m"])
    assert (found.raters[0].rated, found.raters[0].others) == (0, None)
