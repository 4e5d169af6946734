"""What one cycle of the Tianwang crawler visits: so many new URLs, so many that are due, and so many left over."""

from typing import NamedTuple


class Assignment(NamedTuple):
    """How a cycle's capacity is spent.

    Attributes
    ----------
    new, due, remained
        Pages to visit that were never visited; whose time has come since the last cycle; and of RemainedURLs.
    left_over
        Pages that are due and find no room: they join RemainedURLs.
    idle
        Visits that nobody makes.
    """

    new: int
    due: int
    remained: int
    left_over: int
    idle: int


def assign(capacity: int, percent: float, new: int, due: int, remained: int) -> Assignment:
    """Return what a cycle visits, literally as published: the part of new URLs is not given to refresh.

    Parameters
    ----------
    capacity
        N_C, visits a cycle.
    percent
        I, of the capacity, for new URLs.
    new, due, remained
        How many there are of each: never visited; with NextCrawlTime come since the last cycle; left over before.

    Examples
    --------
    Of 100 visits 20 are for new URLs. Where 50 pages are due, 30 of those left over find room; where 120 are, none
    does, and 40 more are left over.

    >>> assign(100, 20, new=500, due=50, remained=200)
    Assignment(new=20, due=50, remained=30, left_over=0, idle=0)
    >>> assign(100, 20, new=500, due=120, remained=40)
    Assignment(new=20, due=80, remained=0, left_over=40, idle=0)
    >>> assign(100, 20, new=5, due=30, remained=10)
    Assignment(new=5, due=30, remained=10, left_over=0, idle=55)

    References
    ----------
    Meng, Wang, Yan (2006), on the incremental crawler of Tianwang.
    """
    share = share_of_new(capacity, percent)
    room = capacity - share
    taken, taken_new = min(due, room), min(new, share)
    again = min(remained, room - taken)
    return Assignment(taken_new, taken, again, due - taken, capacity - taken_new - taken - again)


def share_of_new(capacity: int, percent: float) -> int:
    """Return how many of a cycle's visits are for new URLs: I % of N_C, in whole visits.

    >>> share_of_new(100, 29.0), share_of_new(9, 20.0)
    (29, 1)
    """
    return int(capacity * percent // 100)
