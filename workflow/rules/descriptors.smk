# Descriptors: one representation of every sample per file; expensive ones in parts, each a job.


rule describe:
    input:
        samples=targets.described,
        learned=targets.learned,
        blocks=targets.descriptor_parts,
    output:
        features=targets.path("features"),
    log:
        targets.log("describe"),
    benchmark:
        targets.benchmark("describe")
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=ask.images_memory,
        runtime=ask.images_minutes,
    params:
        spec=targets.spec("describe"),
        code=targets.code("describe"),
    message:
        "Descriptor {wildcards.descriptor} of {wildcards.dataset}"
    script:
        "../scripts/step.py"


use rule describe as learn with:
    input:
        samples=targets.samples,
    output:
        learned=targets.path("learned"),
    log:
        targets.log("learn"),
    benchmark:
        targets.benchmark("learn")
    params:
        spec=targets.spec("learn"),
        code=targets.code("learn"),
    message:
        "Learning what {wildcards.descriptor} needs from {wildcards.dataset}"


use rule describe as describe_part with:
    input:
        samples=targets.samples,
        learned=targets.learned,
    output:
        features=targets.path("features_part"),
    log:
        targets.log("describe_part"),
    benchmark:
        targets.benchmark("describe_part")
    message:
        "Descriptor {wildcards.descriptor} of {wildcards.dataset}, part {wildcards.part}"
