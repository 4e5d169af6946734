"""Bayesian classes: each page is one of a few kinds, and a visit is worth its mean over what kind it may be."""

from evercrawl.schedule.policies.bayes_classes.bayes_classes import BayesClasses

__all__ = ["BayesClasses"]
