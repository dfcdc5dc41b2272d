/** Runs the tests of this folder and prints for each client what works. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";

const ROOT = resolve(import.meta.dirname, "../..");
const Report = z.object({
  testResults: z.array(
    z.object({
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({ ancestorTitles: z.array(z.string()), title: z.string(), status: z.string() }),
      ),
    }),
  ),
});

const { report, exitCode } = await runTests();
const clients = new Map<string, { title: string; status: string }[]>();
for (const { ancestorTitles, title, status } of report.testResults.flatMap((file) => file.assertionResults)) {
  const [client] = ancestorTitles;
  if (client === undefined) continue; // Tests of no client, such as the check of docs/clients.md.
  clients.set(client, [...(clients.get(client) ?? []), { title, status }]);
}
for (const [client, results] of [...clients].toSorted(([one], [other]) => one.localeCompare(other))) {
  const passed = results.filter(({ status }) => status === "passed").length;
  console.log(`\n${client}: ${passed} of ${results.length}`);
  for (const { title, status } of results) console.log(`  ${wordFor(status)}  ${title}`);
}
for (const { message } of report.testResults) if (message !== undefined && message !== "") console.log(`\n${message}`);
process.exitCode = exitCode;

function wordFor(status: string): string {
  if (status === "passed") return "pass";
  return status === "skipped" || status === "pending" ? "skip" : "FAIL";
}

async function runTests(): Promise<{ report: z.infer<typeof Report>; exitCode: number }> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-clients-"));
  const file = join(folder, "report.json");
  try {
    const vitest = spawn(
      "vitest",
      ["run", "--project", "tests", "tests/clients", "--reporter=json", `--outputFile=${file}`],
      { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] },
    );
    const [code] = await once(vitest, "exit");
    return { report: Report.parse(JSON.parse(await readFile(file, "utf8"))), exitCode: code === 0 ? 0 : 1 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
