/**
 * The processes that `open-store.test.ts` starts together: each opens the database, at the moment it is told, and says
 * that it has.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { openStore } from "./open-store.ts";

const [, , file = ":memory:", at = "0"] = process.argv;

await sleep(Math.max(0, Number(at) - Date.now()));
const store = await openStore({ file });
await store.ledger.claimAbandoned(10);
await store.close();
console.log("opened");
