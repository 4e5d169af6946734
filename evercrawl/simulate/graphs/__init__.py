"""Random link graphs: numbered pages and links, without contents or servers."""

from evercrawl.simulate.graphs.base import Web
from evercrawl.simulate.graphs.bow_tie import bow_tie
from evercrawl.simulate.graphs.cooper_frieze import cooper_frieze
from evercrawl.simulate.graphs.copying import copying
from evercrawl.simulate.graphs.poisson import poisson
from evercrawl.simulate.graphs.power_law import power_law
from evercrawl.simulate.graphs.sites import sites

__all__ = ["Web", "bow_tie", "cooper_frieze", "copying", "poisson", "power_law", "sites"]
