"""The workflow's steps: one pure function per rule, explicit paths and a specification in, files out."""
