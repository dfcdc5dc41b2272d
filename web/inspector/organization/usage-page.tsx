import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { formatCount, formatPrice, UNKNOWN } from "../base/format.ts";
import { replaceRoute } from "../shell/route.ts";
import { DIMENSIONS, type Dimension, type UsageLine, usageLines } from "./usage-sums.ts";

const DAY_SECONDS = 86_400;
const SPANS = [7, 30];
/** The most keys whose names are shown. */
const KEYS_SHOWN_MAX = 100;
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

interface UsagePageProps {
  readonly days: number;
  /** One of `DIMENSIONS`; a key for anything else. */
  readonly by: string;
}

/** What all projects used and what it cost, for operators. */
export function UsagePage({ days, by: wished }: UsagePageProps) {
  const by = DIMENSIONS.find((dimension) => dimension === wished) ?? "key";
  const { reply, error, isPending } = useUsage(days);
  const change = (changed: Partial<UsagePageProps>): void => replaceRoute({ page: "usage", days, by, ...changed });
  return (
    <>
      <div className="page-head">
        <h1>Usage</h1>
      </div>
      <form className="usage-choice" aria-label="What is shown" onSubmit={(event) => event.preventDefault()}>
        <label className="field">
          <span>Time</span>
          <select value={days} onChange={({ target }) => change({ days: Number(target.value) })}>
            {SPANS.map((span) => (
              <option key={span} value={span}>
                {span} days
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>By</span>
          <select value={by} onChange={({ target }) => change({ by: target.value })}>
            {DIMENSIONS.map((dimension) => (
              <option key={dimension}>{dimension}</option>
            ))}
          </select>
        </label>
      </form>
      <section className="card wide" tabIndex={0} aria-label="Usage" aria-busy={isPending}>
        {error === null ? null : (
          <p className="trouble" role="alert">
            {error}
          </p>
        )}
        {reply === null || error !== null ? null : (
          <UsageTable lines={usageLines(reply.usage, reply.costs, by)} by={by} names={reply.names} />
        )}
      </section>
    </>
  );
}

interface ShownUsage {
  readonly usage: ResponsesApi.UsageResponse;
  readonly costs: ResponsesApi.UsageResponse;
  /** Of keys, by their ids. */
  readonly names: ReadonlyMap<string, string>;
}

function useUsage(days: number) {
  const client = useClient();
  return useCall<ShownUsage>(
    async (signal) => {
      const start_time = Math.floor(Date.now() / 1000) - (days - 1) * DAY_SECONDS;
      const span = { start_time, limit: days };
      const [usage, costs, keys] = await Promise.all([
        client.getCompletionsUsage({ ...span, group_by: ["api_key_id", "project_id", "model"] }, { signal }),
        client.getCosts({ ...span, group_by: ["api_key_id", "project_id", "line_item"] }, { signal }),
        client.listKeys({ limit: KEYS_SHOWN_MAX, order: "desc" }, { signal }),
      ]);
      return { usage, costs, names: new Map(keys.data.map(({ id, name }) => [id, name])) };
    },
    [client, days],
  );
}

interface UsageTableProps {
  readonly lines: readonly UsageLine[];
  readonly by: Dimension;
  readonly names: ReadonlyMap<string, string>;
}

function UsageTable({ lines, by, names }: UsageTableProps) {
  if (lines.length === 0) return <p className="empty">Nothing was used in this time.</p>;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{titleOf(by)}</th>
          {["Requests", "Input", "Cached", "Output", "Cost"].map((figure) => (
            <th key={figure} scope="col" className="number">
              {figure}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => (
          <tr key={line.name}>
            <th scope="row">{shownName(by, line.name, names)}</th>
            <td className="number">{formatCount(line.requests)}</td>
            <td className="number">{formatCount(line.inputTokens)}</td>
            <td className="number">{formatCount(line.cachedTokens)}</td>
            <td className="number">{formatCount(line.outputTokens)}</td>
            <td className="number">{costText(line)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function titleOf(by: Dimension): string {
  return by.charAt(0).toUpperCase() + by.slice(1);
}

function shownName(by: Dimension, name: string, names: ReadonlyMap<string, string>): string {
  if (by === "day") return DAY.format(new Date(Number(name) * 1000));
  return (by === "key" ? names.get(name) : undefined) ?? (name === "" ? UNKNOWN : name);
}

function costText({ costs }: UsageLine): string {
  const amounts = Object.entries(costs).map(([currency, amount]) => formatPrice(amount, currency.toUpperCase()));
  return amounts.length === 0 ? UNKNOWN : amounts.join(", ");
}
