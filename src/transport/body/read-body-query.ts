import type { IncomingMessage } from "node:http";
import { isRecord } from "../../base/json/records.ts";
import type { Faults } from "../faults.ts";
import type { TransportOptions } from "../options.ts";
import { parseJson } from "./parse-json.ts";
import { readWhole } from "./read-whole.ts";

/** More than any set of query parameters needs. */
const BYTES_MAX = 64 * 1024;

/**
 * Query parameters that were sent as a JSON body, as a query string. A body of another type, or that is no object, says
 * nothing.
 */
export async function readBodyQuery(
  request: IncomingMessage,
  options: TransportOptions,
  faults: Faults,
): Promise<string> {
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) return "";
  const members = await readWhole(request, { ...options, bodyBytesMax: BYTES_MAX }, faults, (chunks) =>
    parseJson(chunks, faults),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(isRecord(members) ? members : {})) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== null) query.append(name, textOf(one));
  }
  return query.toString();
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
