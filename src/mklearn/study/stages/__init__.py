"""The stages of the workflow: a file with the record of each, and their list in the order of the work.

A record says what the jobs of a stage read and write, what they ask a cluster for, and which function of
`mklearn.study.steps` does the work. Records import neither NumPy nor scikit-learn: every job of a run reads them.
"""
