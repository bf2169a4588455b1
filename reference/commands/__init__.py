"""The command lines beside ``fit``: ``domain`` and ``predict``."""
