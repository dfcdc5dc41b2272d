/**
 * A process that `open-store.test.ts` starts several times: opens the database at the given moment and prints a line.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { claimUnmade } from "./claim-unmade.fixture.ts";
import { openStore } from "./open-store.ts";

const [, , file = ":memory:", at = "0"] = process.argv;

await sleep(Math.max(0, Number(at) - Date.now()));
const store = await openStore({ file });
await claimUnmade(store.ledger, 10);
await store.close();
console.log("opened");
