import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanUp, removeFolder } from "./clean-up.ts";
import { LoadGenerator } from "./load-generator.ts";
import { PAIRED_ROWS, printPaired, warmUp } from "./paired-cpu.ts";
import { startServer, startUpstream, THIS_TREE } from "./servers.ts";
import { serverSide } from "./sides.ts";

const RATIO_MAX = 1.03;

/**
 * Measures what a route of `MODELS_FILE` with two candidates costs beside `MODEL_BASE_URL`: the processor time of two
 * servers in front of the same model server.
 */
export async function measureRoutes(): Promise<void> {
  const upstream = await startUpstream();
  const folder = mkdtempSync(join(tmpdir(), "antiphon-bench-"));
  const removed = cleanUp(() => removeFolder(folder));
  const file = join(folder, "models.yaml");
  const server = `{ url: "http://127.0.0.1:${upstream.port}/v1", connections_max: 8192, requests_max: 8192 }`;
  writeFileSync(file, `servers:\n  one: ${server}\n  two: ${server}\nmodels:\n  "*": [one/*, two/*]\n`);
  const alone = await startServer({ root: THIS_TREE, upstream });
  const routed = await startServer({ root: THIS_TREE, upstream, env: { MODELS_FILE: file } });
  const load = new LoadGenerator();
  const base = { name: "one model server", side: serverSide(alone, { stores: true }) };
  const others = { "a route": serverSide(routed, { stores: true }) };
  try {
    await warmUp(load, [base.side, ...Object.values(others)]);
    for (const row of PAIRED_ROWS) await printPaired(row, { base, others, ratioMax: RATIO_MAX }, load);
  } finally {
    load.stop();
    for (const program of [alone, routed, upstream]) program.stop();
    removed();
  }
}
