"""Ground truth for other implementations: cases with exact answers, and flags that name the bug a case catches.

`cases` says what is asked, `sources` answers it without the reference, `steps` answers it with the reference,
`mutants` answers it wrongly in one way each; `build` writes ``v1/*.json`` from these and `check` judges the files.
"""
