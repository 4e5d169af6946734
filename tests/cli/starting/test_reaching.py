"""When a run that reaches nothing is ended."""

from evercrawl.cli.reaching import Reaching
from evercrawl.progress import Progress


def ended(*reports: Progress) -> bool:
    given_up = list[bool]()
    reaching = Reaching(lambda _: None, lambda: given_up.append(True))
    for progress in reports:
        reaching(progress)
    return bool(given_up)


def vain(**more: int) -> list[Progress]:
    return [Progress(0.0, 1.0, known=24, errors={"robots_unreachable": 1}, waiting={"robots.txt": 1}, **more)] * 3


def test_a_run_ends_that_reaches_nothing():
    assert ended(*vain())
    assert not ended(*vain()[:2])


def test_but_not_while_pages_are_asked_for_or_in_the_browser():
    assert not ended(*vain(in_flight=1))
    assert not ended(*vain(rendering=22))
