"""Remember what visits taught."""
