"""What is declared and public: the domain, its attributes and values, domain files."""

from reference.domain.domain import INTERCEPT, NORMS, Domain, ball_corner

__all__ = ["INTERCEPT", "NORMS", "Domain", "ball_corner"]
