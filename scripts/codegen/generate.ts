import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contracts } from "./contracts.ts";
import { generateDocs } from "./docs.ts";
import { makeFieldLedger, makeSdkLedger } from "./field-ledger.ts";
import { generateContract } from "./generate-contract.ts";
import { prepareGenerator } from "./generator-jar.ts";
import { makeManifest } from "./manifest.ts";
import { applyDifferences, compareOutputs, type Difference } from "./outputs.ts";

/** Generates generated/ from specs/. With --check it writes nothing and fails if a file would change. */
async function main(isCheck: boolean): Promise<void> {
  const hindrance = await prepareGenerator();
  const workFolder = await mkdtemp(join(tmpdir(), "antiphon-codegen-"));
  try {
    const made = await Promise.all(
      contracts.map((contract) => generateContract(contract, workFolder, hindrance === null)),
    );
    const outputs = [
      ...made.flatMap((one) => one.outputs),
      ...(await generateDocs(made.map((one) => one.reference))),
      makeFieldLedger(),
      makeSdkLedger(),
      makeManifest(),
    ];
    const skipped = made.flatMap((one) => one.skipped);
    const differences = compareOutputs(outputs, skipped);
    if (!isCheck) applyDifferences(outputs, differences);
    report(differences, isCheck);
    if (hindrance !== null)
      console.warn(`NOT ${isCheck ? "CHECKED" : "GENERATED"}: ${skipped.join(", ")}, because ${hindrance}.`);
    const stale = differences.some(({ state }) => state !== "same");
    if (isCheck ? stale : hindrance !== null) process.exitCode = 1;
    if (isCheck && stale) console.error("generated/ does not match specs/: run make generate");
  } finally {
    await rm(workFolder, { recursive: true });
  }
}

const DONE = { same: "unchanged", changed: "written", new: "written", stale: "deleted" };
const TO_DO = { same: "up to date", changed: "OUT OF DATE", new: "MISSING", stale: "TO BE DELETED" };

function report(differences: readonly Difference[], isCheck: boolean): void {
  const shown = isCheck ? differences.filter(({ state }) => state !== "same") : differences;
  if (isCheck) console.log(`${differences.length - shown.length} generated files are up to date`);
  for (const { path, state, bytes } of shown) {
    console.log(
      `${path.padEnd(44)} ${String(Math.ceil(bytes / 1000)).padStart(5)} kB  ${(isCheck ? TO_DO : DONE)[state]}`,
    );
  }
}

await main(process.argv.includes("--check"));
