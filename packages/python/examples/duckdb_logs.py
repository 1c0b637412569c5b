"""Raw streams in a Parquet file, asked in SQL: which models were cut, and which tools they called.

    python duckdb_logs.py LOGS.parquet

The file has a column `raw` with the body of each response, as a gateway received it.
"""

import sys
from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import reknit.arrow


def batches(path: str) -> Iterator[pa.RecordBatch]:
    """The messages of all streams, some thousand at a time, so that logs of any size fit into memory."""
    for batch in pq.ParquetFile(path).iter_batches(batch_size=4096, columns=["raw"]):
        yield reknit.arrow.messages(batch, "raw")


def main(path: str) -> None:
    schema = reknit.arrow.messages(pa.record_batch({"raw": pa.array([], pa.binary())}), "raw").schema
    connection = duckdb.connect()
    connection.register("replies", pa.RecordBatchReader.from_batches(schema, batches(path)))
    connection.sql("create table messages as select * from replies")
    connection.sql(
        "select status, count(*) as replies, sum(usage.output)::bigint as tokens from messages group by 1 order by 1"
    ).show()
    connection.sql(
        "select call.name, call.end, count(*) as calls from (select unnest(calls) as call from messages)"
        " group by all order by all"
    ).show()
    connection.sql("select error.kind, count(*) as streams from messages where error is not null group by 1").show()


if __name__ == "__main__":
    main(sys.argv[1])
