"""What arithmetic says about the numbers of the paper's tables (`reference.experiments.printed`)."""
