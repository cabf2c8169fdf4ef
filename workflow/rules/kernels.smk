# What all kernels are made from: distances and inner products among all samples, and the manifests of kernel sets.


rule pairwise_block:
    input:
        source=targets.pairwise_source,
    output:
        block=targets.path("cache/pairwise/{dataset}/{descriptor}/{measure}/{part}.npz"),
    log:
        "logs/pairwise/{dataset}/{descriptor}.{measure}/{part}.log",
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    threads: 1
    resources:
        mem_mb=ask.pairwise_memory,
        runtime=ask.pairwise_minutes,
    params:
        spec=targets.pairwise_part_spec,
        code=targets.pairwise_block_code,
    message:
        "Pairwise {wildcards.measure} of {wildcards.dataset} by {wildcards.descriptor}, part {wildcards.part}"
    script:
        "../scripts/pairwise_block.py"


rule pairwise:
    input:
        source=targets.pairwise_source,
        blocks=targets.pairwise_blocks,
    output:
        matrix=targets.path("cache/pairwise/{dataset}/{descriptor}/{measure}.npz"),
    log:
        "logs/pairwise/{dataset}/{descriptor}.{measure}.log",
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    threads: 1
    resources:
        mem_mb=ask.pairwise_memory,
        runtime=ask.pairwise_minutes,
    params:
        spec=targets.pairwise_spec,
        code=targets.pairwise_code,
    message:
        "Pairwise {wildcards.measure} of {wildcards.dataset} by {wildcards.descriptor}"
    script:
        "../scripts/pairwise.py"


rule kernel_set:
    input:
        matrices=targets.matrices,
    output:
        manifest=targets.path("cache/kernels/{dataset}/{kernel_set}.json"),
    log:
        "logs/kernel_set/{dataset}/{kernel_set}.log",
    priority: 1
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.kernel_set_spec,
    message:
        "Kernel set {wildcards.kernel_set} of {wildcards.dataset}"
    script:
        "../scripts/kernel_set.py"
