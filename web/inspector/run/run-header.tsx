import { useState } from "react";
import type { Response, ResponsesApi } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { sentenceOf } from "../api/use-call.ts";
import { asWords, cutText, formatFullMoment } from "../base/format.ts";
import { CopyButton } from "../shell/copy-button.tsx";
import { Icon } from "../shell/icons.tsx";
import { Link } from "../shell/link.tsx";
import { navigate, type Route, RUNS_ROUTE } from "../shell/route.ts";
import { StatusPill } from "../shell/status-pill.tsx";

interface RunHeaderProps {
  readonly response: Response;
  readonly summary: ResponsesApi.ResponseSummary | null;
  readonly isLive: boolean;
  readonly onFork: () => void;
  readonly onExport: () => void;
}

/** The name and state of a run, and what one can do with it. */
export function RunHeader({ response, summary, isLive, onFork, onExport }: RunHeaderProps) {
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
      </div>
      <p className="run-id">
        <code title={response.id}>{response.id}</code>
        <CopyButton text={response.id} label="Copy the id" />
        <span className="hint">{formatFullMoment(response.created_at)}</span>
      </p>
      <div className="run-actions">
        <PauseButton key={response.id} response={response} onTrouble={setTrouble} />
        <CancelButton response={response} onTrouble={setTrouble} />
        <button type="button" onClick={onExport}>
          <Icon name="export" /> Export
        </button>
        <button type="button" className="main" onClick={onFork}>
          <Icon name="fork" /> Fork
        </button>
        <DeleteButton id={response.id} onTrouble={setTrouble} />
      </div>
      <RunTags response={response} summary={summary} />
      <p className="trouble" role="alert">
        {trouble || response.error?.message || cutShort(response)}
      </p>
    </div>
  );
}

function cutShort({ incomplete_details: details }: Response): string {
  return details?.reason === undefined ? "" : `Cut short: ${asWords(details.reason)}.`;
}

/** How the run was asked for, its key, conversation and metadata. A click shows the runs that have the same. */
function RunTags({ response, summary }: Pick<RunHeaderProps, "response" | "summary">) {
  const conversation = response.conversation?.id;
  const key = summary?.key ?? null;
  const alike = (name: string, value: string): Route => ({
    page: "runs",
    query: new URLSearchParams({ span: "all", [name]: value }),
  });
  return (
    <p className="run-tags">
      {summary === null ? null : <span className="tag">{summary.kind}</span>}
      {summary === null || summary.face === null ? null : <span className="tag">by {summary.face}</span>}
      {key === null ? null : (
        <Link to={alike("key", key.id)} className="tag">
          key {key.name ?? key.id}
        </Link>
      )}
      {conversation === undefined ? null : (
        <Link to={alike("conversation", conversation)} className="tag">
          conversation {cutText(conversation, ID_CHARACTERS_SHOWN)}
        </Link>
      )}
      {Object.entries(response.metadata ?? {}).map(([name, value]) => (
        <Link key={name} to={alike("metadata", `${name}=${value}`)} className="tag">
          {name}={cutText(value, METADATA_CHARACTERS_SHOWN)}
        </Link>
      ))}
    </p>
  );
}

const ID_CHARACTERS_SHOWN = 16;
const METADATA_CHARACTERS_SHOWN = 40;

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

/** Pauses a response in the background, or resumes it. */
function PauseButton({ response, onTrouble }: { readonly response: Response; readonly onTrouble: OnTrouble }) {
  const client = useClient();
  const [pause, setPause] = useState(response.pause);
  const isRunning = response.status === "queued" || response.status === "in_progress";
  if (response.background !== true || !isRunning) return null;
  const change = (): void => {
    const changing = pause === undefined ? client.pauseResponse(response.id) : client.resumeResponse(response.id);
    changing.then(
      (changed) => setPause(changed.pause),
      (error: unknown) => onTrouble(sentenceOf(error)),
    );
  };
  return (
    <>
      {pause === undefined ? null : <span className="tag">paused</span>}
      <button type="button" onClick={change}>
        <Icon name={pause === undefined ? "pause" : "play"} />{" "}
        {pause === undefined ? "Pause the response" : "Resume the response"}
      </button>
    </>
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
