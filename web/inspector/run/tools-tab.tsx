import { useMemo } from "react";
import { formatMs } from "../base/format.ts";
import { textAt } from "../base/members.ts";
import type { ShownItem } from "../items/fold-events.ts";
import { ItemCard } from "../items/item-card.tsx";
import { isToolCall } from "../items/item-title.ts";
import type { LoggedEvent } from "./run-log.ts";
import { itemDurationsMs } from "./run-times.ts";

interface ToolsTabProps {
  readonly input: readonly ShownItem[];
  readonly output: readonly ShownItem[];
  readonly events: readonly LoggedEvent[];
}

/** The calls of tools of a run: what was asked, what came back, how long it took, and who approved. */
export function ToolsTab({ input, output, events }: ToolsTabProps) {
  const all = [...input, ...output];
  const calls = output.filter(isToolCall);
  const durations = useMemo(() => itemDurationsMs(events), [events]);
  if (calls.length === 0) return <p className="empty">This run called no tools.</p>;
  return (
    <section className="stack" aria-label="Calls of tools">
      {calls.map((call, index) => (
        <ItemCard
          key={index}
          item={call}
          aside={<span className="hint">{formatMs(durations.get(textAt(call, "id")) ?? null)}</span>}
        >
          <Approval call={call} items={all} />
          <Answer call={call} items={all} />
        </ItemCard>
      ))}
    </section>
  );
}

function Approval({ call, items }: { readonly call: ShownItem; readonly items: readonly ShownItem[] }) {
  const requestId = call.type === "mcp_approval_request" ? textAt(call, "id") : textAt(call, "approval_request_id");
  if (requestId === "") return call.type === "mcp_call" ? <p className="hint">Ran without a question.</p> : null;
  const answer = items.find(
    (item) => item.type === "mcp_approval_response" && textAt(item, "approval_request_id") === requestId,
  );
  if (answer === undefined && call.type === "mcp_call") return <p className="hint">Approved in an earlier response.</p>;
  if (answer === undefined) return <p className="hint">Waits for an approval.</p>;
  return <p className="hint">{answer["approve"] === true ? "Approved." : "Refused."}</p>;
}

function Answer({ call, items }: { readonly call: ShownItem; readonly items: readonly ShownItem[] }) {
  const id = textAt(call, "call_id");
  const answer = items.find((item) => item.type.endsWith("_output") && id !== "" && textAt(item, "call_id") === id);
  if (answer !== undefined) return <ItemCard item={answer} />;
  const isOfClient = /^(function|custom_tool|computer|local_shell|apply_patch)_call$/.test(call.type);
  return isOfClient ? <p className="hint">The client answers this call in its next request.</p> : null;
}
