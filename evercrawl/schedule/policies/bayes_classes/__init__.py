"""Bayesian classes: each page belongs to one of a few rate classes; a visit is worth its mean over the classes."""

from evercrawl.schedule.policies.bayes_classes.bayes_classes import BayesClasses

__all__ = ["BayesClasses"]
