import { measureCluster } from "./cluster.ts";
import { measureCode } from "./code.ts";
import { measureCores } from "./cores.ts";
import { measureEndurance } from "./endure.ts";
import { measureEventList } from "./event-list.ts";
import { measureFaces } from "./faces.ts";
import { measureFlatness } from "./flat.ts";
import { measureInspection } from "./inspection.ts";
import { measureLanguageModel } from "./language-model.ts";
import { measureLoopDelay } from "./loop-delay.ts";
import { measureManyRuns } from "./many-runs.ts";
import { measureOverload } from "./overload.ts";
import { measureReaders } from "./readers.ts";
import { measureResponsiveness } from "./responsiveness.ts";
import { measureRoutes } from "./routes.ts";
import { ROWS } from "./rows.ts";
import { measureSearchQuality } from "./search/quality.ts";
import { measureSearchSpeed } from "./search/speed.ts";
import { measureState } from "./state.ts";
import { measureSpeech } from "./stt/speech.ts";
import { measureTable } from "./table.ts";
import { measureTools } from "./tools.ts";

/**
 * Measures the server beside an earlier commit and beside direct calls of the same upstream, in one run. Nothing here
 * is a test.
 */
const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  table: () => measureTable(Object.values(ROWS)),
  loop: measureLoopDelay,
  cores: measureCores,
  cluster: measureCluster,
  overload: measureOverload,
  endure: measureEndurance,
  faces: measureFaces,
  routes: measureRoutes,
  flat: measureFlatness,
  "event-list": measureEventList,
  inspection: measureInspection,
  "many-runs": measureManyRuns,
  readers: measureReaders,
  responsiveness: measureResponsiveness,
  state: measureState,
  search: measureSearchQuality,
  "search-speed": measureSearchSpeed,
  tools: measureTools,
  code: measureCode,
  "language-model": measureLanguageModel,
  stt: measureSpeech,
};

/** What runs unless benches are named. */
const USUAL = ["table", "loop"];

const given = process.argv.slice(2);
const asked = given.length === 0 ? USUAL : given;
const known = [...Object.keys(BENCHES), ...Object.keys(ROWS)];
const unknown = asked.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`There is no bench called ${unknown.join(", ")}. There are: ${known.join(", ")}.`);
  process.exitCode = 2;
} else {
  const rows = Object.entries(ROWS).filter(([name]) => asked.includes(name));
  if (rows.length > 0) await measureTable(rows.map(([, row]) => row));
  for (const [name, measure] of Object.entries(BENCHES)) if (asked.includes(name)) await measure();
}
