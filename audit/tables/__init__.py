"""The numbers of the paper's tables, and what arithmetic says about them."""
