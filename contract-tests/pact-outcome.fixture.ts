import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordOf } from "./records.fixture.ts";

/** One of Pact's verifiers, at work on a pact file. */
type Verify = (file: string) => Promise<unknown>;

/**
 * What is wrong with each reply or message, by the description of its interaction; nothing where it is as the pact
 * says.
 */
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

/** Throws where something is wrong, or the pact asks for nothing. */
export async function holdTo(pact: string, verify: Verify): Promise<void> {
  const faults = await faultsIn(pact, verify);
  if (faults.size === 0) throw new Error("The pact asks for nothing.");
  const all = [...faults.values()].flat();
  if (all.length > 0) throw new Error(all.join("\n"));
}

/** Pact tells the outcome as JSON, as the message of an error where something is wrong. */
function readOutcome(outcome: unknown): ReadonlyMap<string, readonly string[]> {
  const text = String(outcome);
  const results = text.startsWith("{") ? recordOf(JSON.parse(text))["interactionResults"] : null;
  if (!Array.isArray(results)) throw new Error(`The verification did not come to its end: ${text}`);
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
