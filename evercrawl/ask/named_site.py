"""Look-up of a site or host that a user named."""

from evercrawl.errors import ConfigError
from evercrawl.parse.sites import site
from evercrawl.parse.urls import hostname, normalise
from evercrawl.store.state import State


def known_site(state: State, name: str) -> str:
    """Return the name of a known site or host, in lower case and without a port.

    Parameters
    ----------
    state
        State of the crawl.
    name
        A registrable domain, a host, or a URL, of which only the host is used.

    Raises
    ------
    ConfigError
        The crawl knows neither a site nor a host of that name.
    """
    url = normalise(name) or normalise(f"http://{name.strip()}")
    host = hostname(url).rstrip(".") if url is not None else name.strip().lower()
    if host in state.sites or host in state.hosts or any(each.startswith(f"{host}:") for each in state.hosts):
        return host
    wider = site(host) if url is not None else ""
    others = f", though other hosts of {wider}" if wider in state.sites else ""
    raise ConfigError(f"the crawl does not know {name}{others}; evercrawl top --sites lists those it knows best")
