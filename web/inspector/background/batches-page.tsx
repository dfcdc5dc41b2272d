import { useEffect, useState } from "react";
import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { sentenceOf, useCall } from "../api/use-call.ts";
import { formatCount, formatFullMoment, formatMoment } from "../base/format.ts";
import { downloadFile } from "../shell/download.ts";
import { StatusPill } from "../shell/status-pill.tsx";

type Batch = ResponsesApi.Batch;

const BATCHES_SHOWN_MAX = 50;
/** How often batches that go on are asked for again. */
const LOOK_AGAIN_MS = 2_000;
/** The most errors of a file's lines that are shown. */
const ERRORS_SHOWN_MAX = 5;
const UNDER_WAY: readonly string[] = ["validating", "in_progress", "finalizing", "cancelling"];

/** The newest batches of the key's project, how far they are, and their files. */
export function BatchesPage() {
  const client = useClient();
  const [version, setVersion] = useState(0);
  const [trouble, setTrouble] = useState("");
  const { reply, error } = useCall(
    (signal) => client.listBatches({ limit: BATCHES_SHOWN_MAX }, { signal }),
    [client, version],
  );
  useEffect(() => {
    if (reply === null || !reply.data.some(isUnderWay)) return;
    const timer = setTimeout(() => setVersion((latest) => latest + 1), LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [reply]);
  const act = (doing: Promise<unknown>): void => {
    setTrouble("");
    doing.then(
      () => setVersion((latest) => latest + 1),
      (fault: unknown) => setTrouble(sentenceOf(fault)),
    );
  };
  return (
    <>
      <div className="page-head">
        <h1>Batches</h1>
      </div>
      <p className="trouble" role="alert">
        {error ?? trouble}
      </p>
      <section className="card wide" tabIndex={0} aria-label="Batches">
        {reply === null ? null : <BatchTable batches={reply.data} onAct={act} />}
        {reply?.has_more === true ? (
          <p className="hint">Only the newest {BATCHES_SHOWN_MAX} batches are shown.</p>
        ) : null}
      </section>
    </>
  );
}

interface RowsProps {
  /** Shows the fault of a call, or the batches as they are after it. */
  readonly onAct: (doing: Promise<unknown>) => void;
}

function BatchTable({ batches, onAct }: RowsProps & { readonly batches: readonly Batch[] }) {
  if (batches.length === 0) return <p className="empty">There are no batches. A client makes one from a file.</p>;
  return (
    <table>
      <thead>
        <tr>
          {["Batch", "Endpoint", "Status", "Settled", "Failed", "Tokens", "Made", "Do"].map((column) => (
            <th key={column} scope="col" className={FIGURES.includes(column) ? "number" : undefined}>
              {column === "Do" ? <span className="unseen">Change and files</span> : column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {batches.map((batch) => (
          <BatchRow key={batch.id} batch={batch} onAct={onAct} />
        ))}
      </tbody>
    </table>
  );
}

const FIGURES = ["Settled", "Failed", "Tokens"];

function BatchRow({ batch, onAct }: RowsProps & { readonly batch: Batch }) {
  const { completed, failed, total } = batch.request_counts;
  return (
    <tr data-batch={batch.id}>
      <th scope="row">
        <code>{batch.id}</code>
        <BatchFaults errors={batch.errors?.data ?? []} />
      </th>
      <td>{batch.endpoint}</td>
      <td>
        <StatusPill status={batch.status} />
      </td>
      <td className="number">
        {formatCount(completed + failed)} of {formatCount(total)}
        <progress value={completed + failed} max={Math.max(total, 1)} aria-label={`Settled lines of ${batch.id}`} />
      </td>
      <td className="number">{formatCount(failed)}</td>
      <td className="number">{formatCount(batch.usage.total_tokens)}</td>
      <td>
        <time title={formatFullMoment(batch.created_at)}>{formatMoment(batch.created_at)}</time>
      </td>
      <td>
        <BatchButtons batch={batch} onAct={onAct} />
      </td>
    </tr>
  );
}

/** Why the file of a batch was refused, by its lines. */
function BatchFaults({ errors }: { readonly errors: readonly ResponsesApi.BatchError[] }) {
  if (errors.length === 0) return null;
  return (
    <ul className="faults">
      {errors.slice(0, ERRORS_SHOWN_MAX).map(({ line, message }) => (
        <li key={`${line} ${message}`}>
          {line === null ? "" : `Line ${line}: `}
          {message}
        </li>
      ))}
      {errors.length > ERRORS_SHOWN_MAX ? <li>and {errors.length - ERRORS_SHOWN_MAX} more</li> : null}
    </ul>
  );
}

function BatchButtons({ batch, onAct }: RowsProps & { readonly batch: Batch }) {
  const client = useClient();
  const save = async (fileId: string, name: string): Promise<void> => {
    const bytes = await client.downloadFile(fileId);
    downloadFile(`${batch.id}-${name}.jsonl`, new TextDecoder().decode(bytes), "application/jsonl");
  };
  const files = [
    { name: "output", id: batch.output_file_id },
    { name: "errors", id: batch.error_file_id },
  ];
  return (
    <>
      {files.map(({ name, id }) =>
        id === undefined ? null : (
          <button key={name} type="button" className="quiet" onClick={() => onAct(save(id, name))}>
            Save {name}
            <span className="unseen"> of {batch.id}</span>
          </button>
        ),
      )}
      {isUnderWay(batch) && batch.status !== "cancelling" ? (
        <button type="button" className="quiet" onClick={() => onAct(client.cancelBatch(batch.id))}>
          Cancel<span className="unseen"> {batch.id}</span>
        </button>
      ) : null}
    </>
  );
}

function isUnderWay({ status }: Batch): boolean {
  return UNDER_WAY.includes(status);
}
