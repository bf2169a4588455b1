"""The checks of the mechanisms, and how sure each one makes us."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = [
    "assert_private",
    "canary_lower_bound",
    "canary_mu_lower_bound",
    "epsilon_lower_bound",
    "trade_off",
]

if TYPE_CHECKING:
    from audit.evidence.one_call import (
        assert_private,
        canary_lower_bound,
        canary_mu_lower_bound,
        epsilon_lower_bound,
        trade_off,
    )
    from reference import __version__ as __version__
else:

    def __getattr__(name: str) -> Any:
        """Return one of the calls, or the version; each is loaded on first use."""
        if name == "__version__":
            import reference

            return reference.__version__
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from audit.evidence import one_call

        return getattr(one_call, name)
