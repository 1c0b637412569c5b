"""Raw streams in Parquet files, read by all workers of a Ray cluster.

    python ray_logs.py LOGS.parquet…

The files have a column `raw` with the body of each response. Without a cluster, Ray starts one on this machine.
"""

import sys

import pyarrow as pa
import ray
import ray.data
import reknit.arrow


def messages(batch: pa.Table) -> pa.Table:
    """What Ray calls for each batch, in whichever process."""
    return reknit.arrow.messages(batch, "raw")


def main(paths: list[str]) -> None:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    streams = ray.data.read_parquet(paths, columns=["raw"])
    replies = streams.map_batches(messages, batch_format="pyarrow", batch_size=1024)
    for row in replies.groupby("status").count().sort("status").take_all():
        print(row["status"], row["count()"])
    ray.shutdown()


if __name__ == "__main__":
    main(sys.argv[1:])
