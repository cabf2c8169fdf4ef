# Descriptors: one representation of every sample per file; expensive ones in parts, each a job.


rule learn:
    input:
        samples=targets.samples,
    output:
        learned=targets.path("cache/descriptors/{dataset}/{descriptor}.learned.npz"),
    log:
        "logs/learn/{dataset}/{descriptor}.log",
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    threads: 1
    resources:
        mem_mb=ask.images_memory,
        runtime=ask.images_minutes,
    params:
        spec=targets.descriptor_spec,
        code=targets.learn_code,
    message:
        "Learning what {wildcards.descriptor} needs from {wildcards.dataset}"
    script:
        "../scripts/learn.py"


rule describe_part:
    input:
        samples=targets.samples,
        learned=targets.learned,
    output:
        features=targets.path("cache/descriptors/{dataset}/{descriptor}/{part}.npz"),
    log:
        "logs/describe/{dataset}/{descriptor}/{part}.log",
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    threads: 1
    resources:
        mem_mb=ask.images_memory,
        runtime=ask.images_minutes,
    params:
        spec=targets.part_spec,
        code=targets.descriptor_code,
    message:
        "Descriptor {wildcards.descriptor} of {wildcards.dataset}, part {wildcards.part}"
    script:
        "../scripts/describe.py"


rule describe:
    input:
        samples=targets.described,
        learned=targets.learned,
        blocks=targets.descriptor_blocks,
    output:
        features=targets.path("cache/descriptors/{dataset}/{descriptor}.npz"),
    log:
        "logs/describe/{dataset}/{descriptor}.log",
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    threads: 1
    resources:
        mem_mb=ask.images_memory,
        runtime=ask.images_minutes,
    params:
        spec=targets.descriptor_spec,
        code=targets.descriptor_code,
    message:
        "Descriptor {wildcards.descriptor} of {wildcards.dataset}"
    script:
        "../scripts/describe.py"
