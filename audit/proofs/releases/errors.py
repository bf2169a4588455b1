"""Errors that stop a certificate."""


class NoTheoremError(Exception):
    """No theorem covers a release; the message is the reason."""
