"""The paper's experiments on real data: single runs, their store, and the figures and tables made from them.

`study` defines one run and runs it; `splits` has the training and the held-out part that many runs share;
`store` keeps finished runs in a file and `runner` runs many; `variants` and `exhibits` list the runs of each
figure and table, `summaries` counts them, `printed` holds the paper's numbers; `outputs` and `pages` make
documents and text from them.
`questions` asks what no figure does: `calibrated`, `paired` and `x_s` compare noise on x_s with noise spread
evenly, `rfm` Algorithm 2 with No-Privacy, `peers` and `zafar` other methods on the same splits; `question_pages`
makes pages from them.  ``python -m reference experiments`` runs all of these.
Every run is seeded, so nothing here is a release.
"""
