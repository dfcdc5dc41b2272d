/** The process that `crash.test.ts` kills. Appends to one run and prints the number of each event once it is stored. */
import { writeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openStore } from "../../open-store.ts";
import { aResponse, OURS } from "../../stored-shapes.fixture.ts";
import { textEvents } from "./text-events.fixture.ts";

const STDOUT = 1;
const TURN_EVERY = 3;
const [, , file = ":memory:"] = process.argv;

const { events } = await openStore({ file });
await events.open({ owner: OURS, response: aResponse("resp_1"), inputItems: [] }, []);
for (let next = 0; ; ) {
  const count = 1 + (next % 40);
  if (!events.appendNow("resp_1", textEvents(next, count))) await events.append("resp_1", textEvents(next, count));
  next += count;
  if (next % TURN_EVERY === 0) await nextTurn(); // So that the log is also stored meanwhile.
  writeSync(STDOUT, `${next - 1}\n`);
}
