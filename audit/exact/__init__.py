"""What arithmetic decides: sensitivities, privacy, theorems, boundaries."""
