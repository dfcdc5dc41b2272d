import { setTimeout as sleep } from "node:timers/promises";
import { checkRecords } from "./check-records.ts";
import { type Cluster, LEASE_MS } from "./cluster.ts";
import type { Desk } from "./desk.ts";
import { carryOut, type Fault } from "./faults.ts";
import { Records } from "./records.ts";
import { workDuring } from "./work.ts";

/** How a trial went. */
export interface Outcome {
  readonly faults: readonly string[];
  /** How often things happened, by name. */
  readonly counts: Readonly<Record<string, number>>;
  /** Ended responses that clients followed, by status. */
  readonly ends: Readonly<Record<string, number>>;
  /** Streams that broke and were read on elsewhere. */
  readonly resumed: number;
  /** Errors in the logs of the nodes since their latest starts. */
  readonly logged: Readonly<Record<string, number>>;
  readonly seconds: { readonly work: number; readonly checks: number };
}

/** The time before the first fault and after the last one. */
const CALM_MS = 2000;
const ERROR_LEVEL = 50;
const SETTLE_MS = LEASE_MS * 4;

/** Has clients work with the cluster while these faults befall it, and checks everything that they were told. */
export async function runTrial(cluster: Cluster, faults: readonly Fault[]): Promise<Outcome> {
  const startedAt = performance.now();
  const records = new Records();
  const desk = { client: cluster.client, world: cluster.world, records };
  await workDuring(desk, async () => {
    await sleep(CALM_MS);
    await carryOut(faults, cluster);
    await sleep(CALM_MS);
  });
  const workedAt = performance.now();
  const ended = cluster.nodes.flatMap((node) =>
    node.isAlive() ? [] : [`${node.name} ended: ${node.server.complaints()}`],
  );
  const found = await checkRecords(
    records,
    cluster.world,
    cluster.nodes.map(({ client }) => client),
  );
  const open = await openResponses(cluster);
  const seconds = { work: (workedAt - startedAt) / 1000, checks: (performance.now() - workedAt) / 1000 };
  return { faults: [...ended, ...found, ...open], seconds, logged: loggedBy(cluster), ...summaryOf(desk) };
}

function loggedBy({ nodes }: Cluster): Readonly<Record<string, number>> {
  const logged: Record<string, number> = {};
  for (const line of nodes.flatMap(({ server }) => server.lines())) {
    if (Number(line["level"]) < ERROR_LEVEL) continue;
    const what = `${String(line["msg"])}: ${/"type":"(\w+)"/.exec(JSON.stringify(line["err"] ?? ""))?.[1] ?? "no error"}`;
    logged[what] = (logged[what] ?? 0) + 1;
  }
  return logged;
}

/** No response stays open that nobody makes. */
async function openResponses({ query }: Cluster): Promise<readonly string[]> {
  const until = performance.now() + SETTLE_MS;
  for (;;) {
    const rows = await query("select id, status from responses where status in ('queued', 'in_progress')");
    if (rows.length === 0) return [];
    if (performance.now() > until) return rows.map(({ id, status }) => `${String(id)} is still ${String(status)}`);
    await sleep(LEASE_MS / 10);
  }
}

function summaryOf({ records }: Desk): Pick<Outcome, "counts" | "ends" | "resumed"> {
  const ends: Record<string, number> = {};
  for (const { final } of records.views) {
    const status = final?.status ?? "unknown";
    ends[status] = (ends[status] ?? 0) + 1;
  }
  return { counts: records.counts(), ends, resumed: records.views.reduce((sum, { resumed }) => sum + resumed, 0) };
}
