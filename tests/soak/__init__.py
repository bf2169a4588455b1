"""Long fuzzing: `make soak` runs it, `tests/test_soak.py` repeats a hundredth and compares."""
