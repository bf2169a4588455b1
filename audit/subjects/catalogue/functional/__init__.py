"""The functional mechanisms, right ones, and single mistakes in them.

The broken ones are calibrated to the *exact* sensitivity, so that each mistake alone violates the claim; with the
paper's constants several of them are hidden by slack, and stand here as right ones.
"""
