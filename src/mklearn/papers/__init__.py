"""Reproductions of papers, one folder each: methods used only in their tables, studies, and verdicts on their claims.

mklearn's core finds them by entry points, like third-party packages (`mklearn.study.extensions`), and imports none.
"""
