import { setTimeout as sleep } from "node:timers/promises";
import type { TcpProxy } from "../../../tests/services/tcp-proxy.ts";
import type { Run } from "./run.ts";
import { type Fault, findRuns, type Trouble } from "./trouble.ts";

/** Between the end of an outage and the next one. */
const CALM_MS_MIN = 1000;
const CALM_MS_MAX = 4000;
const OUTAGE_S_MIN = 1;
const OUTAGE_S_MAX = 60;

/** Lengths of outages in milliseconds, most of them short: their logarithms are spread evenly from 1 to 60 s. */
export function drawOutages(count: number): readonly number[] {
  return Array.from({ length: count }, () =>
    Math.round(1000 * OUTAGE_S_MIN * (OUTAGE_S_MAX / OUTAGE_S_MIN) ** Math.random()),
  );
}

export interface Breaking {
  readonly proxy: TcpProxy;
  readonly trouble: Trouble;
  /** Those that are under way at the time. */
  readonly runs: () => readonly Run[];
  readonly report: (outage: number) => void;
}

/** Breaks the way to the database so often, in turns with closed connections and with silent ones. */
export async function breakDatabase(lengths: readonly number[], breaking: Breaking): Promise<void> {
  const { proxy, trouble, runs, report } = breaking;
  for (const [index, ms] of lengths.entries()) {
    await sleep(CALM_MS_MIN + Math.random() * (CALM_MS_MAX - CALM_MS_MIN));
    await trouble.during(async (): Promise<Fault> => {
      const beganAt = Date.now();
      const found = findRuns(runs());
      if (index % 2 === 0) await proxy.cut();
      else proxy.silence();
      await sleep(ms);
      await proxy.heal();
      return { kind: "outage", isAway: false, node: null, beganAt, at: Date.now(), found };
    });
    report(index + 1);
  }
}
