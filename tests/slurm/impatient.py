"""Snakemake's command line, with an executor that looks after its jobs every second.

The SLURM executor waits ten seconds longer each time that none has ended, which spares a cluster and slows tests down.
"""

import asyncio

from snakemake.cli import main
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor


async def sleep(executor: RemoteExecutor) -> None:
    await asyncio.sleep(1)


if __name__ == "__main__":
    RemoteExecutor.sleep = sleep
    main()
