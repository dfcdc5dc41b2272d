import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { formatFullMoment, formatMoment } from "../base/format.ts";
import { Disclosure } from "../shell/disclosure.tsx";

/** The newest requests that were refused, and left no run. */
export function RefusedRequests({ refused }: { readonly refused: readonly ResponsesApi.RefusedRequest[] }) {
  if (refused.length === 0) return null;
  return (
    <section className="card" aria-label="Refused requests">
      <Disclosure className="refused" summary="Refused requests, which left no run">
        {() => (
          <ol className="findings">
            {refused.map((request, index) => (
              <li key={index}>
                <strong>
                  {request.status} {request.code}
                </strong>{" "}
                <span className="hint">
                  {request.model} {request.kind}{" "}
                  <time title={formatFullMoment(request.created_at)}>{formatMoment(request.created_at)}</time>
                </span>
                <p>{request.message}</p>
                {request.input_preview === "" ? null : <p className="hint">{request.input_preview}</p>}
              </li>
            ))}
          </ol>
        )}
      </Disclosure>
    </section>
  );
}
