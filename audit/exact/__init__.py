"""Everything that arithmetic decides: sensitivities, privacy, theorems, boundaries."""
