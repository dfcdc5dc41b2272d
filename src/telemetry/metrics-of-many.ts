import type { Across, Metric } from "./metric.ts";
import { METRICS } from "./metric-table.ts";

/** The text of one metric, and its series by name with labels, as printed. */
interface MetricReading {
  readonly head: readonly string[];
  readonly series: ReadonlyMap<string, number>;
}

type Readings = ReadonlyMap<string, MetricReading>;

const ACROSS: ReadonlyMap<string, Across> = new Map(
  Object.values<Metric>(METRICS).map(({ name, across = "sum" }) => [name, across]),
);

/**
 * Combines the metrics of several processes. The counters of an ended process are kept, so that no sum ever decreases.
 */
export class MetricsOfMany {
  readonly #latest = new Map<number, Readings>();
  #pastReadings: Readings = new Map();

  /** Takes the latest text of a process, in the format of Prometheus. */
  update(process: number, text: string): void {
    this.#latest.set(process, readMetrics(text));
  }

  /** The process has ended: keeps its counters and drops its gauges. */
  end(process: number): void {
    const last = this.#latest.get(process);
    if (last === undefined) return;
    this.#latest.delete(process);
    const counts = [...last].filter(([, { head }]) => !head.some((line) => line.endsWith(" gauge")));
    this.#pastReadings = addUp([this.#pastReadings, new Map(counts)]);
  }

  text(): string {
    return [...addUp([this.#pastReadings, ...this.#latest.values()]).values()]
      .flatMap(({ head, series }) => [...head, ...[...series].map(([name, value]) => `${name} ${value}`)])
      .map((line) => `${line}\n`)
      .join("");
  }
}

function addUp(all: readonly Readings[]): Readings {
  const sum = new Map<string, { readonly head: readonly string[]; readonly series: Map<string, number> }>();
  for (const [name, { head, series }] of all.flatMap((readings) => [...readings])) {
    const metric = sum.get(name) ?? { head, series: new Map<string, number>() };
    sum.set(name, metric);
    for (const [key, value] of series) {
      const earlier = metric.series.get(key);
      metric.series.set(key, earlier === undefined ? value : JOIN[ACROSS.get(name) ?? "sum"](earlier, value));
    }
  }
  return sum;
}

const JOIN: Readonly<Record<Across, (one: number, other: number) => number>> = {
  sum: (one, other) => one + other,
  highest: Math.max,
  lowest: Math.min,
};

/** Each metric begins with its `# HELP` and `# TYPE` lines. */
function readMetrics(text: string): Readings {
  const readings = new Map<string, { readonly head: string[]; readonly series: Map<string, number> }>();
  let reading = { head: new Array<string>(), series: new Map<string, number>() };
  for (const line of text.split("\n")) {
    if (line.startsWith("# HELP ")) {
      reading = { head: [], series: new Map() };
      readings.set(line.split(" ", 3)[2] ?? "", reading);
    }
    if (line.startsWith("#")) reading.head.push(line);
    else if (line !== "") {
      const end = line.lastIndexOf(" ");
      reading.series.set(line.slice(0, end), Number(line.slice(end + 1)));
    }
  }
  return readings;
}
