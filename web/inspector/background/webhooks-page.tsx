import { useState } from "react";
import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { sentenceOf, useCall } from "../api/use-call.ts";
import { formatFullMoment } from "../base/format.ts";
import { Link } from "../shell/link.tsx";
import { webhooksRoute } from "../shell/route.ts";
import { StatusPill } from "../shell/status-pill.tsx";
import { DeliveryList } from "./delivery-list.tsx";
import { isEventType } from "./event-types.ts";
import { type OpenDialog, WebhookDialog } from "./webhook-dialog.tsx";

type Endpoint = ResponsesApi.WebhookEndpoint;

/** The most endpoints that a project has. */
const ENDPOINTS_MAX = 100;

/** The endpoints of the key's project; of the chosen one also what was sent to it. */
export function WebhooksPage({ endpoint: chosen }: { readonly endpoint: string | null }) {
  const client = useClient();
  const [version, setVersion] = useState(0);
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const { reply, error } = useCall(
    (signal) => client.listWebhookEndpoints({ limit: ENDPOINTS_MAX }, { signal }),
    [client, version],
  );
  const show = (next: OpenDialog | null): void => {
    setOpen(next);
    setVersion(version + 1);
  };
  return (
    <>
      <div className="page-head">
        <h1>Webhooks</h1>
        <button type="button" className="main" onClick={() => setOpen({ type: "new" })}>
          New endpoint
        </button>
      </div>
      {error === null ? null : (
        <p className="trouble" role="alert">
          {error}
        </p>
      )}
      <section className="card wide" tabIndex={0} aria-label="Endpoints">
        {reply === null ? null : <EndpointTable endpoints={reply.data} chosen={chosen} onOpen={setOpen} />}
      </section>
      {chosen === null ? null : <DeliveryList key={chosen} endpointId={chosen} />}
      {open === null ? null : <WebhookDialog key={open.type} open={open} onNext={show} />}
    </>
  );
}

interface EndpointTableProps {
  readonly endpoints: readonly Endpoint[];
  readonly chosen: string | null;
  readonly onOpen: (open: OpenDialog) => void;
}

function EndpointTable({ endpoints, chosen, onOpen }: EndpointTableProps) {
  if (endpoints.length === 0)
    return <p className="empty">There are no endpoints. An endpoint is told when a background response has ended.</p>;
  return (
    <table>
      <thead>
        <tr>
          {["Name", "URL", "Events", "Status", "Secret", "Do"].map((column) => (
            <th key={column} scope="col">
              {column === "Do" ? <span className="unseen">Change</span> : column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {endpoints.map((endpoint) => (
          <tr key={endpoint.id} data-endpoint={endpoint.id}>
            <th scope="row">
              <Link to={webhooksRoute(endpoint.id)} isCurrent={endpoint.id === chosen}>
                {endpoint.name}
              </Link>
            </th>
            <td>{endpoint.url}</td>
            <td>{endpoint.event_types.join(", ")}</td>
            <td>
              <StatusPill status={endpoint.status} /> <Health endpoint={endpoint} />
            </td>
            <td>{endpoint.signing_secret_hint}</td>
            <td>
              <EndpointButtons endpoint={endpoint} onOpen={onOpen} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Health({ endpoint }: { readonly endpoint: Endpoint }) {
  if (endpoint.disabled_reason !== null) return <>{endpoint.disabled_reason}</>;
  return endpoint.failing_since === null ? null : <>fails since {formatFullMoment(endpoint.failing_since)}</>;
}

const CHANGES = [
  { type: "change", label: "Change" },
  { type: "rotate", label: "Rotate the secret of" },
  { type: "delete", label: "Delete" },
] as const;

function EndpointButtons({ endpoint, onOpen }: Pick<EndpointTableProps, "onOpen"> & { readonly endpoint: Endpoint }) {
  return (
    <>
      <TestButton endpoint={endpoint} />
      {CHANGES.map(({ type, label }) => (
        <button key={type} type="button" className="quiet" onClick={() => onOpen({ type, endpoint })}>
          {label.split(" ")[0]}
          <span className="unseen">
            {label.slice(label.split(" ")[0]?.length)} {endpoint.name}
          </span>
        </button>
      ))}
    </>
  );
}

/** Sends a sample of the first event that the endpoint wants, and says how it was taken. */
function TestButton({ endpoint }: { readonly endpoint: Endpoint }) {
  const client = useClient();
  const [outcome, setOutcome] = useState("");
  const test = (): void => {
    const event_type = endpoint.event_types.find(isEventType) ?? "response.completed";
    setOutcome("…");
    client.testWebhookEndpoint(endpoint.id, { event_type }).then(
      ({ status_code }) => setOutcome(`${status_code}`),
      (error: unknown) => setOutcome(sentenceOf(error)),
    );
  };
  return (
    <>
      <button type="button" className="quiet" onClick={test}>
        Test<span className="unseen"> {endpoint.name}</span>
      </button>
      <span role="status">{outcome}</span>
    </>
  );
}
