"""Integrations with other crawlers, which fetch and extract while evercrawl schedules the visits."""

__all__: list[str] = []
