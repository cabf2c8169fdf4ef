# Fits: a method on all splits of a protocol, the moments that several methods share, fits to shuffled targets, and
# fits without each view.


rule moments:
    "Gather the moments of landmark features over one block of samples."
    input:
        labels="<results>/cache/data/{dataset}.labels.parquet",
        splits="<results>/cache/splits/{dataset}/{protocol}.parquet",
        features=jobs.input("moments", "features"),  # one block; for the first job, which chooses landmarks, all blocks
        landmarks=jobs.input("moments", "landmarks"),  # moments of the first block; for the first job none
    output:
        moments="<results>/cache/moments/{dataset}/{protocol}/{landmark_set}/{part}.npz",
    log:
        "logs/moments/{dataset}/{protocol}/{landmark_set}/{part}.log",
    benchmark:
        "logs/moments/{dataset}/{protocol}/{landmark_set}/{part}.tsv"
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        **requests.of("moments"),
    params:
        **jobs.params("moments"),
    script:
        "../scripts/moments.py"


rule fit:
    "Fit a method on every split of a protocol, and predict the test samples."
    input:
        labels="<results>/cache/data/{dataset}.labels.parquet",
        matrices=jobs.input("fit", "matrices"),  # distances for kernels
        sources=jobs.input("fit", "sources"),  # features and images; with moments, the features of each block
        moments=jobs.input("fit", "moments"),  # for landmarks on blocks of samples
        splits="<results>/cache/splits/{dataset}/{protocol}.parquet",
    output:
        model="<results>/cache/fits/{dataset}/{protocol}/{method}.npz",  # weights, objectives, an embedding: for the page
        predictions="<results>/cache/fits/{dataset}/{protocol}/{method}.predictions.npz",
    log:
        "logs/fit/{dataset}/{protocol}/{method}.log",
    benchmark:
        "logs/fit/{dataset}/{protocol}/{method}.tsv"
    conda:
        "../../envs/mklearn.yaml"
    resources:
        **requests.of("fit"),
    params:
        **jobs.params("fit"),
    script:
        "../scripts/fit.py"


rule null_control:
    "Fit a multi-view method to the target of a data set, and to shuffled targets."
    input:
        labels="<results>/cache/data/{dataset}.labels.parquet",
        matrices=jobs.input("null_control", "matrices"),
        sources=jobs.input("null_control", "sources"),
    output:
        control="<results>/cache/null/{dataset}/{method}.npz",
    log:
        "logs/null_control/{dataset}/{method}.log",
    benchmark:
        "logs/null_control/{dataset}/{method}.tsv"
    conda:
        "../../envs/mklearn.yaml"
    resources:
        **requests.of("null_control"),
    params:
        **jobs.params("null_control"),
    script:
        "../scripts/null_control.py"


rule view_contributions:
    "Fit a multi-view method on all views, without each view, and on each view alone."
    input:
        labels="<results>/cache/data/{dataset}.labels.parquet",
        matrices=jobs.input("view_contributions", "matrices"),
        sources=jobs.input("view_contributions", "sources"),
        splits="<results>/cache/splits/{dataset}/{protocol}.parquet",
    output:
        contributions="<results>/cache/views/{dataset}/{protocol}/{method}.npz",
    log:
        "logs/view_contributions/{dataset}/{protocol}/{method}.log",
    benchmark:
        "logs/view_contributions/{dataset}/{protocol}/{method}.tsv"
    priority: 1
    conda:
        "../../envs/mklearn.yaml"
    resources:
        **requests.of("view_contributions"),
    params:
        **jobs.params("view_contributions"),
    script:
        "../scripts/view_contributions.py"
