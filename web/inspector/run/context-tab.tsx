import type { Response } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { formatCount, formatMoment } from "../base/format.ts";
import { Link } from "../shell/link.tsx";
import { runRoute } from "../shell/route.ts";
import { StatusPill } from "../shell/status-pill.tsx";
import { type ChainNode, readChain } from "./chain.ts";

/** The chain or conversation that a run belongs to, with the size of the context of each turn. */
export function ContextTab({ response }: { readonly response: Response }) {
  const client = useClient();
  const { reply, error } = useCall((signal) => readChain(client, response, signal), [client, response.id]);
  if (reply === null) return <p className="empty">{error ?? "Loading…"}</p>;
  const { nodes, isWhole } = reply;
  const most = Math.max(1, ...nodes.map(({ run }) => (run.inputTokens ?? 0) + (run.outputTokens ?? 0)));
  return (
    <section aria-label="Chain">
      <h2>{response.conversation == null ? "Chain" : "Conversation"}</h2>
      <p className="hint">
        {response.conversation == null
          ? "Each response continues the one above it. A step to the right is a fork."
          : `The runs of ${response.conversation.id}.`}{" "}
        The bars are the tokens of each turn: the context that the model read, and what it added.
        {isWhole ? null : ` There are more runs; ${formatCount(nodes.length)} of them are shown.`}
      </p>
      <ol className="chain">
        {nodes.map(({ run, depth }) => (
          <Turn key={run.id} node={{ run, depth }} most={most} isCurrent={run.id === response.id} />
        ))}
      </ol>
    </section>
  );
}

interface TurnProps {
  readonly node: ChainNode;
  /** The tokens of the longest bar. */
  readonly most: number;
  readonly isCurrent: boolean;
}

function Turn({ node: { run, depth }, most, isCurrent }: TurnProps) {
  const share = (tokens: number | null): string => `${((tokens ?? 0) / most) * 100}%`;
  return (
    <li
      className="turn"
      aria-current={isCurrent ? "true" : undefined}
      style={{ marginInlineStart: `${depth * 1.5}rem` }}
    >
      <div className="turn-name">
        <Link to={runRoute(run.id, "context")}>{run.text === "" ? run.id : run.text}</Link>
        <StatusPill status={run.status} />
        <span className="hint">{formatMoment(run.createdAt)}</span>
      </div>
      <div className="turn-bar" aria-hidden="true">
        <span className="turn-input" style={{ width: share(run.inputTokens) }} />
        <span className="turn-output" style={{ width: share(run.outputTokens) }} />
      </div>
      <p className="hint">
        {formatCount(run.inputTokens)} tokens of context, {formatCount(run.outputTokens)} added
      </p>
    </li>
  );
}
