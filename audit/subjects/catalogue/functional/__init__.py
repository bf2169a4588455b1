"""The functional mechanisms: right ones, and ones with a single mistake.

The broken ones are calibrated to the *exact* sensitivity, so that each mistake alone violates the claim; with the
paper's constants, slack hides several of them, which are here as right ones.
"""
