# A rule for each stage of the workflow; src/mklearn/study/stages has a file on each.

for stage in targets.rules():

    rule:
        name:
            stage.name
        input:
            **stage.inputs,
        output:
            **stage.outputs(report, caption="../report/page.rst", category="Results"),
        log:
            stage.log,
        benchmark:
            stage.benchmark
        priority: stage.priority
        localrule: stage.local
        conda:
            "../../envs/mklearn.yaml"
        threads: stage.threads
        resources:
            **stage.resources,
        params:
            **stage.params,
        message:
            stage.message
        script:
            "../scripts/step.py"
