# The plan of the study, the constraints that follow from it, and the names that the rules use.

from mklearn.engine.session import call_python_by_a_plain_path
from mklearn.study.job_resources import JobResources
from mklearn.study.targets import open_study

call_python_by_a_plain_path()
targets = open_study(config, workflow)
ask = JobResources(targets)


wildcard_constraints:
    dataset=targets.one_of("dataset"),
    descriptor=targets.one_of("descriptor"),
    measure=targets.one_of("measure"),
    kernel_set=targets.one_of("kernel_set"),
    protocol=targets.one_of("protocol"),
    landmark_set=targets.one_of("landmark_set"),
    method=targets.one_of("method"),
    source=targets.one_of("source"),
    file=targets.one_of("file"),
    part=r"\d+of\d+",
