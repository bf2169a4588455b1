"""The paper's experiments on real data: single runs, where they are kept, and the figures and tables made of them.

`study` says what one run is and runs it; `splits` holds the training and the held-out part that many runs share;
`store` keeps finished runs in a file and `runner` runs many; `variants` and `exhibits` list the runs of each
figure and table, `summaries` counts them, `printed` holds the paper's numbers; `outputs` and `pages` make
documents and text of them.
`questions` asks what no figure does: `calibrated`, `paired` and `x_s` compare noise on x_s with noise spread
evenly, `rfm` Algorithm 2 with No-Privacy, `peers` and `zafar` other methods on the same splits; `question_pages`
makes pages of them.  ``python -m reference experiments`` runs all of these.
Every run is seeded, so nothing here is a release.
"""
