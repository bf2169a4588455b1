"""The paper's experiments on real data: single runs, where they are kept, and the figures and tables made of them.

`study` says what one run is and runs it; `splits` holds the training and the held-out part that many runs share;
`store` keeps finished runs in a file and `runner` runs many; `grids` lists the runs of each figure and table,
`summaries` counts them, `printed` holds the paper's numbers; `drawing`, `pages` and `__main__` show them.
Every run is seeded, so nothing here is a release.
"""
