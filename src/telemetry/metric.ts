/** One metric, as documented. Every label has a small, fixed set of values that clients cannot influence. */
export interface Metric {
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly labels: readonly string[];
  readonly text: string;
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
  /** How values of several processes are combined. Default: their sum. */
  readonly across?: Across;
}

export type Across = "sum" | "highest" | "lowest";

export function counter(name: string, labels: readonly string[], text: string): Metric & { readonly kind: "counter" } {
  return { name, kind: "counter", labels, text };
}

export function gauge(
  name: string,
  labels: readonly string[],
  text: string,
  across: Across = "sum",
): Metric & { readonly kind: "gauge" } {
  return { name, kind: "gauge", labels, text, across };
}

export function histogram(
  name: string,
  labels: readonly string[],
  buckets: readonly number[],
  text: string,
): Metric & { readonly kind: "histogram" } {
  return { name, kind: "histogram", labels, text, buckets };
}
