import { useState } from "react";
import type { Response } from "../../../src/client/index.ts";
import { useClient } from "../api/session.ts";
import { sentenceOf } from "../api/use-call.ts";
import { formatFullMoment } from "../base/format.ts";
import { CopyButton } from "../shell/copy-button.tsx";
import { Icon } from "../shell/icons.tsx";
import { Link } from "../shell/link.tsx";
import { navigate, RUNS_ROUTE } from "../shell/route.ts";
import { StatusPill } from "../shell/status-pill.tsx";

interface RunHeaderProps {
  readonly response: Response;
  readonly isLive: boolean;
  readonly onFork: () => void;
  readonly onExport: () => void;
}

/** The name and state of a run, and what one can do with it. */
export function RunHeader({ response, isLive, onFork, onExport }: RunHeaderProps) {
  const [trouble, setTrouble] = useState("");
  return (
    <div className="run-head">
      <div className="run-name">
        <Link to={RUNS_ROUTE} className="back" label="All runs">
          <Icon name="back" />
        </Link>
        <h1>{response.model}</h1>
        <StatusPill status={response.status} />
        {isLive ? <span className="live">live</span> : null}
        {response.background === true ? <span className="tag">background</span> : null}
      </div>
      <p className="run-id">
        <code>{response.id}</code>
        <CopyButton text={response.id} label="Copy the id" />
        <span className="hint">{formatFullMoment(response.created_at)}</span>
      </p>
      <div className="run-actions">
        <CancelButton response={response} onTrouble={setTrouble} />
        <button type="button" onClick={onExport}>
          <Icon name="export" /> Export
        </button>
        <button type="button" className="main" onClick={onFork}>
          <Icon name="fork" /> Fork
        </button>
        <DeleteButton id={response.id} onTrouble={setTrouble} />
      </div>
      <p className="trouble" role="alert">
        {trouble || response.error?.message || ""}
      </p>
    </div>
  );
}

type OnTrouble = (trouble: string) => void;

function CancelButton({ response, onTrouble }: { readonly response: Response; readonly onTrouble: OnTrouble }) {
  const client = useClient();
  const isRunning = response.status === "queued" || response.status === "in_progress";
  if (response.background !== true || !isRunning) return null;
  const cancel = (): void => {
    client.cancelResponse(response.id).catch((error: unknown) => onTrouble(sentenceOf(error)));
  };
  return (
    <button type="button" onClick={cancel}>
      <Icon name="stop" /> Cancel
    </button>
  );
}

/** Deletes at the second click. */
function DeleteButton({ id, onTrouble }: { readonly id: string; readonly onTrouble: OnTrouble }) {
  const client = useClient();
  const [isAsking, setIsAsking] = useState(false);
  const remove = (): void => {
    client.deleteResponse(id).then(
      () => navigate(RUNS_ROUTE),
      (error: unknown) => onTrouble(sentenceOf(error)),
    );
  };
  if (!isAsking)
    return (
      <button
        type="button"
        className="quiet icon-button"
        aria-label="Delete this run"
        title="Delete"
        onClick={() => setIsAsking(true)}
      >
        <Icon name="trash" />
      </button>
    );
  return (
    <>
      <button type="button" className="danger" onClick={remove}>
        Delete for ever
      </button>
      <button type="button" onClick={() => setIsAsking(false)}>
        Keep
      </button>
    </>
  );
}
