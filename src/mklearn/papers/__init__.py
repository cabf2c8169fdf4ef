"""The papers that mklearn reproduces, a folder each: methods that serve their tables only, studies, and what holds.

mklearn's core finds them by entry points, as it finds packages outside (`mklearn.study.extensions`), and imports
none.
"""
