import type { Attributes, Histogram, Meter } from "@opentelemetry/api";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { emptyResource } from "@opentelemetry/resources";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import type { Metric } from "./metric.ts";

type Kind<K extends Metric["kind"]> = Metric & { readonly kind: K };

/** The metrics of one server, and their text for Prometheus. */
export class Meters {
  readonly #reader = new ScrapeReader();
  readonly #meter: Meter;
  readonly #serializer = new PrometheusSerializer(undefined, false, undefined, true, true);

  constructor() {
    this.#meter = new MeterProvider({ readers: [this.#reader], resource: emptyResource() }).getMeter("antiphon");
  }

  /** `labelSets` are shown from the start, with 0. */
  counter(metric: Kind<"counter">, labelSets: readonly Labels[] = []): Counter {
    const counter = new Counter();
    for (const labels of labelSets) counter.add(0, labels);
    this.watch(metric, () => counter.readings());
    return counter;
  }

  histogram({ name, text, buckets }: Kind<"histogram">): Histogram {
    const advice = { explicitBucketBoundaries: [...(buckets ?? [])] };
    return this.#meter.createHistogram(name, { description: text, advice });
  }

  /** `read` is called at each scrape. */
  watch({ name, text, kind }: Kind<"counter" | "gauge">, read: () => number | readonly MeterReading[]): void {
    const options = { description: text };
    const instrument =
      kind === "counter"
        ? this.#meter.createObservableCounter(name, options)
        : this.#meter.createObservableGauge(name, options);
    instrument.addCallback((result) => {
      const values = read();
      if (typeof values === "number") return result.observe(values);
      for (const { value, labels } of values) result.observe(value, labels);
    });
  }

  /** All metrics in the text format of Prometheus. */
  async text(): Promise<string> {
    const { resourceMetrics } = await this.#reader.collect();
    return this.#serializer.serialize(resourceMetrics);
  }
}

/** Each counter has its labels in one order. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Counts here, and is read at each scrape. The library's own counter sorts the labels and writes them as JSON at each
 * addition, and a request makes a dozen.
 */
export class Counter {
  readonly #series = new Map<string, { value: number; readonly labels: Labels }>();

  add(amount: number, labels: Labels): void {
    const key = Object.values(labels).join(" ");
    const series = this.#series.get(key);
    if (series === undefined) this.#series.set(key, { value: amount, labels });
    else series.value += amount;
  }

  readings(): readonly MeterReading[] {
    return [...this.#series.values()];
  }
}

/** A value read at each scrape. */
export interface MeterReading {
  readonly value: number;
  readonly labels: Attributes;
}

/** Collects only on a scrape. */
class ScrapeReader extends MetricReader {
  protected async onForceFlush(): Promise<void> {}
  protected async onShutdown(): Promise<void> {}
}
