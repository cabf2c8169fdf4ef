# Descriptors: one representation of every sample per file; expensive ones in parts, each a job.


rule learn:
    input:
        samples=targets.samples,
        code=targets.learn_code,
    output:
        learned=targets.path("cache/descriptors/{dataset}/{descriptor}.learned.npz"),
    log:
        "logs/learn/{dataset}/{descriptor}.log",
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=targets.images_memory,
    params:
        spec=targets.descriptor_spec,
    message:
        "Learning what {wildcards.descriptor} needs from {wildcards.dataset}"
    script:
        "../scripts/learn.py"


rule describe_part:
    input:
        samples=targets.samples,
        learned=targets.learned,
        code=targets.descriptor_code,
    output:
        features=targets.path("cache/descriptors/{dataset}/{descriptor}/{part}.npz"),
    log:
        "logs/describe/{dataset}/{descriptor}/{part}.log",
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=targets.images_memory,
    params:
        spec=targets.part_spec,
    message:
        "Descriptor {wildcards.descriptor} of {wildcards.dataset}, part {wildcards.part}"
    script:
        "../scripts/describe.py"


rule describe:
    input:
        samples=targets.described,
        learned=targets.learned,
        blocks=targets.descriptor_blocks,
        code=targets.descriptor_code,
    output:
        features=targets.path("cache/descriptors/{dataset}/{descriptor}.npz"),
    log:
        "logs/describe/{dataset}/{descriptor}.log",
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=targets.images_memory,
    params:
        spec=targets.descriptor_spec,
    message:
        "Descriptor {wildcards.descriptor} of {wildcards.dataset}"
    script:
        "../scripts/describe.py"
