"""Backtests: recorded histories of change, replayed under any policy at equal budget."""
