import { useState } from "react";
import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { sentenceOf, useCall } from "../api/use-call.ts";
import { asWords, formatFullMoment, formatMoment, formatMs, UNKNOWN } from "../base/format.ts";
import { Link } from "../shell/link.tsx";
import { BATCHES_ROUTE, runRoute } from "../shell/route.ts";
import { StatusPill } from "../shell/status-pill.tsx";

type Delivery = ResponsesApi.WebhookDelivery;

const DELIVERIES_SHOWN_MAX = 50;

/** What was sent to an endpoint in the last 30 days, the newest first. */
export function DeliveryList({ endpointId }: { readonly endpointId: string }) {
  const client = useClient();
  const [version, setVersion] = useState(0);
  const [trouble, setTrouble] = useState("");
  const { reply, error } = useCall(
    (signal) => client.listWebhookDeliveries(endpointId, { limit: DELIVERIES_SHOWN_MAX }, { signal }),
    [client, endpointId, version],
  );
  const refresh = (): void => setVersion((latest) => latest + 1);
  const redeliver = (eventId: string): void => {
    setTrouble("");
    client.redeliverWebhook(endpointId, eventId).then(refresh, (fault: unknown) => setTrouble(sentenceOf(fault)));
  };
  return (
    <section aria-label="Deliveries">
      <div className="page-head later">
        <h2>Deliveries</h2>
        <button type="button" className="quiet" onClick={refresh}>
          Look again
        </button>
      </div>
      <p className="trouble" role="alert">
        {error ?? trouble}
      </p>
      {reply === null ? null : <DeliveryTable deliveries={reply.data} onRedeliver={redeliver} />}
      {reply?.has_more === true ? (
        <p className="hint">Only the newest {DELIVERIES_SHOWN_MAX} deliveries are shown.</p>
      ) : null}
    </section>
  );
}

interface DeliveryTableProps {
  readonly deliveries: readonly Delivery[];
  readonly onRedeliver: (eventId: string) => void;
}

function DeliveryTable({ deliveries, onRedeliver }: DeliveryTableProps) {
  if (deliveries.length === 0) return <p className="empty">Nothing was sent yet.</p>;
  return (
    <div className="card wide" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {["Event", "About", "Status", "Attempts", "Last answer", "Happened", "Do"].map((column) => (
              <th key={column} scope="col">
                {column === "Do" ? <span className="unseen">Change</span> : column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {deliveries.map((delivery) => (
            <tr key={delivery.id} data-delivery={delivery.id}>
              <th scope="row">{delivery.event_type}</th>
              <td>
                <Link to={delivery.data.id.startsWith("batch_") ? BATCHES_ROUTE : runRoute(delivery.data.id)}>
                  {delivery.data.id}
                </Link>
              </td>
              <td>
                <StatusPill status={delivery.status} />
                {delivery.next_attempt_at === null ? null : ` next ${formatMoment(delivery.next_attempt_at)}`}
              </td>
              <td className="number">{delivery.attempt_count}</td>
              <td>{answerText(delivery)}</td>
              <td>
                <time title={formatFullMoment(delivery.created_at)}>{formatMoment(delivery.created_at)}</time>
              </td>
              <td>
                <button type="button" className="quiet" onClick={() => onRedeliver(delivery.id)}>
                  Send again<span className="unseen"> {delivery.id}</span>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What came of the latest attempt. */
function answerText({ attempts }: Delivery): string {
  const latest = attempts.toSorted((left, right) => right.at - left.at)[0];
  if (latest === undefined) return UNKNOWN;
  return `${latest.status_code ?? asWords(latest.error ?? "")}, after ${formatMs(latest.duration_ms)}`;
}
