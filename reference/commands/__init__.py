"""The commands besides ``fit``: ``domain`` and ``predict``."""
