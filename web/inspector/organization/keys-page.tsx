import { useState } from "react";
import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { sentenceOf, useCall } from "../api/use-call.ts";
import { formatCount, formatFullMoment, formatMoment, UNKNOWN } from "../base/format.ts";
import { CopyButton } from "../shell/copy-button.tsx";
import { Dialog } from "../shell/dialog.tsx";
import { KeyForm } from "./key-form.tsx";

type Key = ResponsesApi.KeyRecord;

/** What is open over the list of keys. */
type Open =
  | { readonly type: "new" }
  | { readonly type: "value"; readonly value: string }
  | { readonly type: "change" | "revoke"; readonly key: Key }
  | null;

/** The most keys on the page; the newest are shown. */
const KEYS_SHOWN_MAX = 100;

/** All keys with their budgets, for operators. */
export function KeysPage() {
  const client = useClient();
  const [version, setVersion] = useState(0);
  const [open, setOpen] = useState<Open>(null);
  const { reply, error } = useCall(
    (signal) => client.listKeys({ limit: KEYS_SHOWN_MAX, order: "desc" }, { signal }),
    [client, version],
  );
  const show = (next: Open): void => {
    setOpen(next);
    setVersion(version + 1);
  };
  return (
    <>
      <div className="page-head">
        <h1>Keys</h1>
        <button type="button" className="main" onClick={() => setOpen({ type: "new" })}>
          New key
        </button>
      </div>
      <section className="card wide" tabIndex={0} aria-label="Keys">
        {error === null ? null : (
          <p className="trouble" role="alert">
            {error}
          </p>
        )}
        {reply === null ? null : <KeyTable keys={reply.data} onOpen={setOpen} />}
        {reply?.has_more === true ? <p className="hint">Only the newest {KEYS_SHOWN_MAX} keys are shown.</p> : null}
      </section>
      {open === null ? null : <KeyDialog key={open.type} open={open} onNext={show} />}
    </>
  );
}

function KeyTable({ keys, onOpen }: { readonly keys: readonly Key[]; readonly onOpen: (open: Open) => void }) {
  return (
    <table>
      <thead>
        <tr>
          {["Name", "Key", "Projects", "Budget", "Made", ""].map((column) => (
            <th key={column} scope="col">
              {column === "" ? <span className="unseen">Change</span> : column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <tr key={key.id} data-key={key.id}>
            <th scope="row">
              {key.name} {key.is_operator ? <span className="tag">operator</span> : null}
            </th>
            <td>{key.redacted_value}</td>
            <td>{key.projects.join(", ")}</td>
            <td>{budgetText(key)}</td>
            <td>
              <time title={formatFullMoment(key.created_at)}>{formatMoment(key.created_at)}</time>
            </td>
            <td>{key.revoked_at === null ? <KeyButtons shown={key} onOpen={onOpen} /> : "revoked"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function KeyButtons({ shown, onOpen }: { readonly shown: Key; readonly onOpen: (open: Open) => void }) {
  return (
    <>
      <button type="button" className="quiet" onClick={() => onOpen({ type: "change", key: shown })}>
        Change<span className="unseen"> {shown.name}</span>
      </button>
      <button type="button" className="quiet" onClick={() => onOpen({ type: "revoke", key: shown })}>
        Revoke<span className="unseen"> {shown.name}</span>
      </button>
    </>
  );
}

interface KeyDialogProps {
  readonly open: NonNullable<Open>;
  /** Shows the next dialog, or none. */
  readonly onNext: (open: Open) => void;
}

function KeyDialog({ open, onNext }: KeyDialogProps) {
  const client = useClient();
  const close = (): void => onNext(null);
  switch (open.type) {
    case "new":
      return (
        <Dialog title="New key" onClose={close}>
          <KeyForm
            known={null}
            onSend={async ({ name, project, isOperator, budget }) => {
              const projects = project === "" ? {} : { projects: [project] };
              const { value } = await client.createKey({ name, ...projects, is_operator: isOperator, budget });
              onNext({ type: "value", value });
            }}
          />
        </Dialog>
      );
    case "value":
      return (
        <Dialog title="The new key" onClose={close}>
          <p>It is shown this once. The server keeps only its hash.</p>
          <p>
            <code>{open.value}</code> <CopyButton text={open.value} label="Copy the key" />
          </p>
        </Dialog>
      );
    case "change":
      return (
        <Dialog title={`Change ${open.key.name}`} onClose={close}>
          <KeyForm
            known={open.key}
            onSend={async ({ name, budget }) => {
              await client.updateKey(open.key.id, { name, budget });
              onNext(null);
            }}
          />
        </Dialog>
      );
    case "revoke":
      return <RevokeDialog revoked={open.key} onClose={close} />;
    default:
      return open;
  }
}

function RevokeDialog({ revoked, onClose }: { readonly revoked: Key; readonly onClose: () => void }) {
  const client = useClient();
  const [trouble, setTrouble] = useState("");
  const revoke = (): void => {
    client.deleteKey(revoked.id).then(onClose, (error: unknown) => setTrouble(sentenceOf(error)));
  };
  return (
    <Dialog title={`Revoke ${revoked.name}`} onClose={onClose}>
      <p>{revoked.redacted_value} stops working within two seconds, for good.</p>
      <button type="button" className="main" onClick={revoke}>
        Revoke the key
      </button>
      <p className="trouble" role="alert">
        {trouble}
      </p>
    </Dialog>
  );
}

function budgetText({ budget, spending }: Key): string {
  if (budget === null) return UNKNOWN;
  const limits = [
    ...(budget.amount == null ? [] : [`${Number((spending?.amount ?? 0).toFixed(6))} of ${budget.amount}`]),
    ...(budget.tokens == null ? [] : [`${formatCount(spending?.tokens ?? 0)} of ${formatCount(budget.tokens)} tokens`]),
  ].join(", ");
  return budget.period === "total" ? `${limits} in total` : `${limits} a ${budget.period}`;
}
