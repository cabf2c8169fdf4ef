"""Entry point of ``python -m mklearn``, the same program as the command ``mklearn``."""

from mklearn.study.cli.command_line import main

if __name__ == "__main__":
    raise SystemExit(main())
