# The plan of the study, and the constraints that follow from it.

from mklearn.study.engine.session import call_python_by_a_plain_path
from mklearn.study.stages.targets import open_study

call_python_by_a_plain_path()
targets = open_study(config, workflow)


wildcard_constraints:
    **targets.wildcard_constraints(),
