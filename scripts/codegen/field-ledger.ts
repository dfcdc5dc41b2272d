import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { header, repository } from "./contracts.ts";
import type { Output } from "./outputs.ts";

const SPEC = "specs/field-ledger.yaml";
const SDK_SPEC = "specs/sdk-ledger.yaml";

/**
 * Generates the field ledger: what the server does with each member of a create request. The server reads it when it
 * refuses a member.
 */
export function makeFieldLedger(): Output {
  const ledger: unknown = parse(readFileSync(join(repository, SPEC), "utf8"));
  const text = [
    header(SPEC),
    'export type Treatment = "honoured" | "emulated" | "refused";\n',
    "/** By engine, or by the server itself where no engine is concerned. */",
    "export interface LedgerEntry {",
    "  readonly server?: Treatment;",
    '  readonly "chat-completions"?: Treatment;',
    "  readonly responses?: Treatment;",
    "  readonly messages?: Treatment;",
    '  readonly "built-in"?: Treatment;',
    "  readonly note?: string;",
    "}\n",
    "/** By path: a member, a nested member, or a value of a closed set, such as `text.format.json_schema` or `tools.mcp`. */",
    `export const fieldLedger: Readonly<Record<string, LedgerEntry>> = ${JSON.stringify(ledger, null, 2)};\n`,
  ].join("\n");
  return { path: "generated/responses-api/field-ledger.ts", text };
}

/** Generates the list of what the official SDK has beyond the contract, for the tests that compare it with both. */
export function makeSdkLedger(): Output {
  const ledger: unknown = parse(readFileSync(join(repository, SDK_SPEC), "utf8"));
  const text = [
    header(SDK_SPEC),
    "/** By path. `source` is a resource of the SDK. */",
    `export const sdkLedger = ${JSON.stringify(ledger, null, 2)} as const;\n`,
  ].join("\n");
  return { path: "generated/responses-api/sdk-ledger.ts", text };
}
