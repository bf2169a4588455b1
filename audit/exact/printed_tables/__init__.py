"""Arithmetic on the numbers of the paper's tables (`reference.experiments.printed`)."""
