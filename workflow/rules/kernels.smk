# Kernels: descriptors of the samples, and the distances from which kernels are computed.


rule learn:
    "Learn what a descriptor needs from images: words, patches, principal axes."
    input:
        samples="<results>/cache/data/{dataset}.npz",
    output:
        learned="<results>/cache/descriptors/{dataset}/{descriptor}.learned.npz",
    log:
        "logs/learn/{dataset}/{descriptor}.log",
    benchmark:
        "logs/learn/{dataset}/{descriptor}.tsv"
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        **requests.of("learn"),
    params:
        **jobs.params("learn"),
    script:
        "../scripts/learn.py"


rule describe:
    "Describe the samples: all of them, or one block for the moments of landmark features."
    input:
        samples="<results>/cache/data/{dataset}.npz",
        learned=jobs.input("describe", "learned"),
    output:
        features="<results>/cache/descriptors/{dataset}/{descriptor}/{part}.npz",  # 1of1: all samples
    log:
        "logs/describe/{dataset}/{descriptor}/{part}.log",
    benchmark:
        "logs/describe/{dataset}/{descriptor}/{part}.tsv"
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        **requests.of("describe"),
    params:
        **jobs.params("describe"),
    script:
        "../scripts/describe.py"


rule distances:
    "Compute the distances among all samples in one descriptor."
    input:
        source=jobs.input("distances", "source"),  # features, point sets, or the user's matrices
    output:
        matrix="<results>/cache/distances/{dataset}/{descriptor}/{measure}.npz",
    log:
        "logs/distances/{dataset}/{descriptor}/{measure}.log",
    benchmark:
        "logs/distances/{dataset}/{descriptor}/{measure}.tsv"
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    threads: requests.distance_threads
    resources:
        **requests.of("distances"),
    params:
        **jobs.params("distances"),
    script:
        "../scripts/distances.py"
