import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { formatFullMoment, formatMoment } from "../base/format.ts";
import { StatusPill } from "../shell/status-pill.tsx";
import type { RunFilters } from "./filters.ts";

type Refused = ResponsesApi.RefusedRequest;

/** The refused requests that the list shows beside its runs: they failed, called no tool and have no text but this. */
export function shownRefusals(refused: readonly Refused[], filters: RunFilters): readonly Refused[] {
  const { statuses, text, tool, error, conversation, metadata } = filters;
  if (statuses.length > 0 && !statuses.includes("failed")) return [];
  if (tool !== "" || conversation !== "" || metadata !== "") return [];
  const words = text.toLowerCase().split(/\s+/);
  return refused.filter(({ code, message, input_preview: input }) => {
    const said = `${message} ${input}`.toLowerCase();
    return (error === "" || code === error) && words.every((word) => said.includes(word));
  });
}

/** A request that was refused, as a row among the runs. It has no page of its own, for it made no response. */
export function RefusedRow({ request, columns }: { readonly request: Refused; readonly columns: number }) {
  const { status, code, message, param, model, kind, key_id: key, input_preview: input, created_at: at } = request;
  return (
    <tr data-refused="">
      <td className="mark" />
      <td className="preview">
        <span className="preview-line">
          <span className="preview-in">{input === "" ? "A request without readable input" : input}</span>
          <span className="preview-tags">
            <span className="tag">{status}</span>
            {code === null ? null : <span className="tag">{code}</span>}
          </span>
        </span>
        <span className="preview-why">
          {message}
          {param === null ? "" : ` (${param})`}
        </span>
      </td>
      <td>
        <StatusPill status="refused" />
      </td>
      <td className="model">
        {model}
        <span className="kind">{kind}</span>
      </td>
      <td className="refused-key" colSpan={columns}>
        <span className="hint">by the key {key}</span>
      </td>
      <td className="number">
        <time dateTime={new Date(at * 1000).toISOString()} title={formatFullMoment(at)}>
          {formatMoment(at)}
        </time>
      </td>
    </tr>
  );
}
