"""The verbs that steer a crawl: add, boost, check, exclude, forget, include, orders, pause, resume and set."""

from evercrawl.cli import arguments
from evercrawl.cli.steering import add as seeds
from evercrawl.cli.steering import boost, check, exclude, forget, include, orders, pause, resume
from evercrawl.cli.steering import set as settings


def add(verbs: arguments.Verbs) -> None:
    """Declare the verbs."""
    for one in (seeds, boost, check, exclude, forget, include, orders, pause, resume, settings):
        one.add(verbs)
