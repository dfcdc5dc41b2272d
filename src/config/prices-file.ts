import { readFileSync } from "node:fs";
import { isRecord } from "@antiphon/base/json/records.ts";
import { parse } from "yaml";
import { ConfigError } from "./config-error.ts";

/** The price of a million tokens. */
export interface ModelPrice {
  readonly input: number;
  /** For cached input. */
  readonly cachedInput: number;
  readonly output: number;
}

export interface Prices {
  readonly currency: string;
  /** Keyed by model name; a name that ends in `*` matches all names with its prefix. */
  readonly models: Readonly<Record<string, ModelPrice>>;
}

const MEMBERS: ReadonlySet<string> = new Set(["input", "cached_input", "output"]);

/** The operator's prices; null if `file` is null. Throws `ConfigError` if the file is invalid. */
export function readPrices(file: string | null): Prices | null {
  if (file === null) return null;
  const read = readYaml(file);
  const { currency = "USD", models, ...others } = isRecord(read) ? read : {};
  if (typeof currency !== "string" || !isRecord(models) || Object.keys(others).length > 0)
    throw unusable(file, "must have models, and may have a currency");
  const entries = Object.entries(models).map(([model, price]) => [model, readPrice(file, model, price)] as const);
  return { currency, models: Object.fromEntries(entries) };
}

function readPrice(file: string, model: string, price: unknown): ModelPrice {
  if (!isRecord(price) || Object.keys(price).some((name) => !MEMBERS.has(name)))
    throw unusable(file, `must give ${model} input and output, and may give it cached_input`);
  const { input, output, cached_input: cachedInput = input } = price;
  if (!isAmount(input) || !isAmount(output) || !isAmount(cachedInput))
    throw unusable(file, `must give ${model} prices that are numbers of 0 or more`);
  return { input, cachedInput, output };
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function readYaml(file: string): unknown {
  try {
    return parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw unusable(file, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function unusable(file: string, complaint: string): ConfigError {
  return new ConfigError([`PRICES_FILE ${file} ${complaint}.`]);
}
