"""Ground truth for other implementations: cases with exact answers, and flags that name the bug a case catches.

`cases` has the questions, `sources` answers them without the reference, `steps` with it, and each of `mutants`
answers wrongly in one way; `build` writes ``v1/*.json`` from these and `check` judges the files.
"""
