# Descriptors: one representation of every sample per file.


rule describe:
    input:
        samples=targets.samples,
        code=targets.descriptor_code,
    output:
        features=targets.path("cache/descriptors/{dataset}/{descriptor}.npz"),
    log:
        "logs/describe/{dataset}/{descriptor}.log",
    conda:
        "../../envs/mklearn.yaml"
    params:
        spec=targets.descriptor_spec,
    message:
        "Descriptor {wildcards.descriptor} of {wildcards.dataset}"
    script:
        "../scripts/describe.py"
