"""Study files: strict models of everything that a user can write in one, and the plan that follows from it.

Importing these modules is cheap (pydantic and yaml only): every job of a cluster run parses the study again.
"""
