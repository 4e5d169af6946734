"""Backtests: recorded change histories, replayed under any policy at an equal budget."""
