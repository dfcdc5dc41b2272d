import type { StreamReport } from "@antiphon/stream-grammar/index.ts";
import type { ReactNode } from "react";
import type { Response, ResponsesApi } from "../../../packages/client/src/index.ts";
import { formatCount, formatMs, formatPrice, UNKNOWN } from "../base/format.ts";
import type { RunTimes } from "./run-times.ts";

interface RunFactsProps {
  readonly response: Response;
  readonly summary: ResponsesApi.ResponseSummary | null;
  readonly times: RunTimes;
  readonly events: number;
  readonly report: StreamReport | null;
}

/** The figures of a run in one line. */
export function RunFacts({ response, summary, times, events, report }: RunFactsProps) {
  const { usage } = response;
  const price = summary?.price ?? null;
  const cached = usage?.input_tokens_details.cached_tokens ?? 0;
  const reasoning = usage?.output_tokens_details.reasoning_tokens ?? 0;
  const faults = report === null ? null : report.faults.length + report.faultsLeftOut;
  return (
    <dl className="facts">
      <Fact name="Duration" value={formatMs(times.endedMs)} />
      <Fact name="Queue wait" value={formatMs(times.startedMs)} />
      <Fact name="First token" value={formatMs(times.firstTokenMs)} />
      <Fact
        name="Speed"
        value={
          times.tokensPerSecond === null
            ? UNKNOWN
            : `${times.tokensPerSecond.toFixed(times.tokensPerSecond < 100 ? 1 : 0)} tok/s`
        }
      />
      <Fact
        name="Input tokens"
        value={formatCount(usage?.input_tokens ?? null)}
        more={cached === 0 ? null : `${formatCount(cached)} cached`}
      />
      <Fact
        name="Output tokens"
        value={formatCount(usage?.output_tokens ?? null)}
        more={reasoning === 0 ? null : `${formatCount(reasoning)} reasoning`}
      />
      <Fact name="Price" value={price === null ? UNKNOWN : formatPrice(price.amount, price.currency)} />
      <Fact name="Events" value={formatCount(events)} />
      <Fact name="Linter" value={faults === null ? UNKNOWN : faults === 0 ? "No rule broken" : `${faults} broken`} />
    </dl>
  );
}

function Fact({
  name,
  value,
  more = null,
}: {
  readonly name: string;
  readonly value: ReactNode;
  readonly more?: string | null;
}) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>
        {value}
        {more === null ? null : <span className="fact-more">{more}</span>}
      </dd>
    </div>
  );
}
