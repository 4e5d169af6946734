"""Published shares of the optimum, measured by other code on other populations of the same kind."""

from typing import Final

BUDGETS: Final = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Visits per page and day."""
CORRELATIONS: Final = (0.0, 0.5)
"""Correlations between importance and rate of change."""
WITHIN: Final = 0.03
"""Tolerance around a published figure: the difference that is usual between draws."""

_TABLE: Final = """
index, known rates|1.000/0.998|1.000/1.000|1.000/1.000|1.000/1.000|1.000/1.000
index, learned|0.971/0.934|0.980/0.955|0.987/0.975|0.992/0.987|0.997/0.996
index, learned, one prior for all|0.964/0.919|0.978/0.945|0.987/0.973|0.992/0.987|0.998/0.997
index, learned, half of the pages dated|0.980/0.951|0.986/0.967|0.991/0.982|0.993/0.990|0.998/0.997
index, learned, all pages dated|0.989/0.965|0.993/0.979|0.994/0.987|0.995/0.992|0.998/0.997
index, posterior mean|0.915/0.888|0.935/0.900|0.969/0.931|0.992/0.984|0.998/0.997
index, Thompson|0.860/0.864|0.886/0.874|0.918/0.919|0.933/0.945|0.929/0.952
index, Cho (13)|0.916/0.838|0.920/0.862|0.913/0.873|0.919/0.912|0.955/0.935
index, X/T|0.903/0.788|0.912/0.835|0.911/0.864|0.920/0.911|0.958/0.938
Wolf, 10 visits a page|1.000/1.000|1.000/1.000|1.000/1.000|1.000/1.000|1.000/0.999
Wolf, 1 visit a page|0.993/0.977|0.987/0.962|0.982/0.949|0.977/0.943|0.974/0.942
Azar, even|0.995/0.992|0.996/0.993|0.997/0.994|0.997/0.995|0.998/0.997
Azar, random|0.939/0.886|0.949/0.903|0.960/0.921|0.968/0.936|0.976/0.952
LambdaCrawl, even|0.929/0.821|0.954/0.890|0.975/0.945|0.990/0.980|0.999/0.998
LambdaCrawl, random|0.853/0.704|0.890/0.780|0.924/0.850|0.950/0.902|0.971/0.943
LambdaCrawl, learned, random|0.829/0.622|0.850/0.738|0.873/0.816|0.894/0.857|0.926/0.897
Azar, learned, random|0.858/0.639|0.890/0.756|0.905/0.855|0.911/0.879|0.936/0.909
f ~ w|0.924/0.870|0.931/0.910|0.938/0.933|0.945/0.942|0.951/0.948
Carney pf, clustered|0.929/0.800|0.962/0.934|0.964/0.960|0.969/0.959|0.980/0.970
Carney pf|0.675/0.416|0.749/0.463|0.834/0.537|0.896/0.655|0.938/0.815
Carney p|0.609/0.308|0.663/0.361|0.741/0.477|0.846/0.656|0.955/0.874
Carney lam|0.586/0.377|0.707/0.424|0.822/0.490|0.886/0.626|0.941/0.815
Carney p/lam|0.626/0.358|0.674/0.378|0.734/0.416|0.790/0.469|0.856/0.560
f ~ sqrt(w lam)|0.651/0.408|0.797/0.619|0.908/0.820|0.968/0.939|0.996/0.992
RPUC|0.651/0.361|0.778/0.437|0.876/0.601|0.927/0.758|0.964/0.905
Chile, known rates|0.623/0.597|0.687/0.622|0.763/0.669|0.817/0.710|0.850/0.730
uniform|0.483/0.307|0.575/0.348|0.671/0.394|0.761/0.447|0.856/0.542
f ~ w lam|0.564/0.605|0.623/0.631|0.696/0.659|0.771/0.692|0.856/0.742
Nutch, start one cycle|0.539/0.508|0.617/0.581|0.687/0.628|0.779/0.677|0.756/0.699
Nutch, start 30 days|0.513/0.487|0.599/0.568|0.623/0.379|0.544/0.280|0.516/0.249
StormCrawler|0.483/0.308|0.578/0.353|0.694/0.417|0.810/0.513|0.847/0.721
Tianwang|0.182/0.125|0.265/0.172|0.462/0.305|0.567/0.311|0.538/0.275
Coffman (34), f ~ lam|0.015/0.023|0.040/0.054|0.122/0.147|0.329/0.368|0.674/0.709
value of the optimum|0.686/0.473|0.763/0.582|0.838/0.702|0.895/0.803|0.946/0.899
"""


def printed() -> dict[tuple[str, float, float], float]:
    """Return the published figures, by row, correlation and budget.

    >>> printed()["uniform", 0.5, 0.1]
    0.394
    """
    found = dict[tuple[str, float, float], float]()
    for line in _TABLE.strip().splitlines():
        name, *cells = line.split("|")
        for budget, cell in zip(BUDGETS, cells, strict=True):
            for correlation, figure in zip(CORRELATIONS, cell.split("/"), strict=True):
                found[name, correlation, budget] = float(figure)
    return found
