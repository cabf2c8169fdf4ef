# The model of one method on all samples, of studies with the section `final`; `mklearn predict` takes it.


rule final_model:
    input:
        summary=targets.path("summary"),
        labels=targets.final_labels,
        splits=targets.final_splits,
        sources=targets.final_sources,
        learned=targets.final_learned,
        images=targets.final_images,
        tables=targets.final_tables,
        label_table=targets.final_label_table,
    output:
        model=targets.path("final_model"),
        card=targets.path("final_card"),
        predicted=targets.path("final_predictions"),
    log:
        targets.log("final_model"),
    conda:
        "../../envs/mklearn.yaml"
    resources:
        mem_mb=ask.final_memory,
        runtime=ask.final_minutes,
    params:
        spec=targets.spec("final_model"),
        code=targets.code("final_model"),
    message:
        "Fitting the final model on all samples"
    script:
        "../scripts/step.py"
