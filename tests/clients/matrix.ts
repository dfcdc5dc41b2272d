/**
 * Runs the tests of this folder and prints for each client what works. Servers and clients are in a network of their
 * own where the system allows one, so that no client can reach anything else.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { loneNetwork, whyNoLoneNetwork } from "../kit/lone-network.ts";
import { ownAddresses } from "./own-addresses.ts";

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

const network = loneNetwork();
console.log(
  network === undefined
    ? `The clients share this machine's network, and get a proxy that is not there: ${whyNoLoneNetwork()}.`
    : "The clients are in a network of their own, which has the loopback address only.",
);
const { report, exitCode } = await (network === undefined ? runTests([]) : runTestsInside(network));
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

/** The tests are told of a listener outside of their network, and see that they cannot reach it. */
async function runTestsInside(inside: readonly string[]): ReturnType<typeof runTests> {
  const listener = createServer((_request, response) => response.end("heard"));
  listener.listen(0, "0.0.0.0");
  await once(listener, "listening");
  try {
    const address = listener.address();
    if (address === null || typeof address === "string") throw new Error("the listener has no port");
    const urls = ownAddresses().map((host) => `http://${host}:${address.port}`);
    for (const url of urls) await fetch(url); // One that nobody reaches would show nothing.
    return await runTests(inside, { OUTSIDE_URLS: urls.join(" ") });
  } finally {
    listener.closeAllConnections();
    listener.close();
  }
}

async function runTests(
  inside: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ report: z.infer<typeof Report>; exitCode: number }> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-clients-"));
  const file = join(folder, "report.json");
  const tests = ["run", "--project", "tests", "tests/clients", "--reporter=json", `--outputFile=${file}`];
  const [program = "", ...parameters] = [...inside, "vitest", ...tests];
  try {
    const vitest = spawn(program, parameters, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [code] = await once(vitest, "exit");
    return { report: Report.parse(JSON.parse(await readFile(file, "utf8"))), exitCode: code === 0 ? 0 : 1 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
