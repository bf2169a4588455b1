"""The mechanisms of "Differentially Private and Fair Classification via Calibrated Functional Mechanism".

Reading order: domain, records, moments, coefficients, objective, sensitivity, noise, minimiser, mechanisms.
"""
