import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordOf } from "./records.fixture.ts";

/** Runs one of Pact's verifiers on a pact file. */
type Verify = (file: string) => Promise<unknown>;

/** Returns the faults of each reply or message by description. The list is empty if it matches the pact. */
export async function faultsIn(pact: string, verify: Verify): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-pact-"));
  const file = join(folder, "pact.json");
  await writeFile(file, pact);
  try {
    return readOutcome(await verify(file).catch((error: unknown) => (error instanceof Error ? error.message : error)));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Throws if a reply does not match or the pact has no interactions. */
export async function verifyPact(pact: string, verify: Verify): Promise<void> {
  const faults = await faultsIn(pact, verify);
  if (faults.size === 0) throw new Error("The pact has no interactions.");
  const all = [...faults.values()].flat();
  if (all.length > 0) throw new Error(all.join("\n"));
}

/** Pact returns the outcome as JSON; on a mismatch the JSON is the message of an error. */
function readOutcome(outcome: unknown): ReadonlyMap<string, readonly string[]> {
  const text = String(outcome);
  const results = text.startsWith("{") ? recordOf(JSON.parse(text))["interactionResults"] : null;
  if (!Array.isArray(results)) throw new Error(`The verification did not finish: ${text}`);
  return new Map(
    results.map((result) => {
      const { description, result: verdict, mismatch } = recordOf(result);
      return [String(description), verdict === "OK" ? [] : mismatchesOf(mismatch)];
    }),
  );
}

function mismatchesOf(mismatch: unknown): string[] {
  const { mismatches } = recordOf(mismatch);
  if (!Array.isArray(mismatches)) return [JSON.stringify(mismatch)];
  return mismatches.map((one) => {
    const { path, mismatch: text } = recordOf(one);
    return typeof path === "string" ? `${path}: ${text}` : typeof text === "string" ? text : JSON.stringify(one);
  });
}
