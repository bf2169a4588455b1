"""A machine-checked certificate that a release's scales carry its stated (epsilon, delta).

``exported`` reads a release's file and checks that its fields agree, ``theorem`` chooses the theorem that covers
it or says why none does, ``text`` writes the Coq file, ``check`` compiles it in a clean directory, and
``python -m audit certify release.json`` runs it all.  Page: ``docs/release-certificates.md``.
"""
