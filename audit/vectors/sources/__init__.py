"""The second source of every expected value: the paper in rational arithmetic and mpmath, without the reference.

A contract of import-linter keeps `reference` out of here.
"""
