"""The mechanisms of "Differentially Private and Fair Classification via Calibrated Functional Mechanism".

Reading order: domain, records, moments, coefficients, objective, sensitivity, noise, minimiser, mechanisms.

The rooms, floor by floor; each imports only rooms of floors below its own, and this package never `audit`:

1. common (numbers, errors, documents, files)
2. readings, budgets, domain, coefficients
3. records, sensitivity, minimiser (which cannot reach records)
4. moments, noise
5. objective, datasets, accounting
6. fairness
7. mechanisms, repaired
8. registry
9. classifier, experiments
10. commands, which alone parse options and print
"""

__version__ = "0.1.0"
