# What all kernels are made from: distances and inner products among all samples, and the manifests of kernel sets.


rule pairwise:
    input:
        source=targets.pairwise_source,
        blocks=targets.pairwise_blocks,
    output:
        matrix=targets.path("pairwise"),
    log:
        targets.log("pairwise"),
    benchmark:
        targets.benchmark("pairwise")
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=ask.pairwise_memory,
        runtime=ask.pairwise_minutes,
    params:
        spec=targets.spec("pairwise"),
        code=targets.code("pairwise"),
    message:
        "Pairwise {wildcards.measure} of {wildcards.dataset} by {wildcards.descriptor}"
    script:
        "../scripts/step.py"


use rule pairwise as pairwise_block with:
    input:
        source=targets.pairwise_source,
    output:
        block=targets.path("pairwise_block"),
    log:
        targets.log("pairwise_block"),
    benchmark:
        targets.benchmark("pairwise_block")
    params:
        spec=targets.spec("pairwise_block"),
        code=targets.code("pairwise_block"),
    message:
        "Pairwise {wildcards.measure} of {wildcards.dataset} by {wildcards.descriptor}, part {wildcards.part}"


rule kernel_set:
    input:
        matrices=targets.matrices,
    output:
        manifest=targets.path("kernel_set"),
    log:
        targets.log("kernel_set"),
    benchmark:
        targets.benchmark("kernel_set")
    priority: 1
    localrule: True
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.spec("kernel_set"),
    message:
        "Kernel set {wildcards.kernel_set} of {wildcards.dataset}"
    script:
        "../scripts/step.py"
