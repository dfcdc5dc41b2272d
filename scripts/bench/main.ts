import { measureMemory } from "./memory.ts";
import { measurePacedStreams } from "./paced.ts";
import { measureResponsiveness } from "./responsiveness.ts";
import { measureState } from "./state.ts";
import { measureSpeech } from "./stt/speech.ts";
import { measureFirstEvent, measureThroughput } from "./throughput.ts";

/**
 * Compares the server with direct calls of the same upstream, in one run. Prints ratios and medians; nothing here is a
 * test.
 */
const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  throughput: measureThroughput,
  "first-event": measureFirstEvent,
  paced: measurePacedStreams,
  memory: measureMemory,
  responsiveness: measureResponsiveness,
  state: measureState,
  stt: measureSpeech,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  console.error(`There is no bench called ${unknown.join(", ")}. There are: ${Object.keys(BENCHES).join(", ")}.`);
  process.exitCode = 2;
} else {
  for (const [name, measure] of Object.entries(BENCHES))
    if (asked.length === 0 || asked.includes(name)) await measure();
}
