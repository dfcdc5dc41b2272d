/** A process that a test kills. It starts a server and prints its address. */

import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "./postgres-server.ts";
import { startRedis } from "./redis-server.ts";

const LIFE_MS_MAX = 60_000;

const server = process.argv[2] === "redis" ? await startRedis() : await startPostgres();
console.log(typeof server.url === "string" ? server.url : server.url());
await sleep(LIFE_MS_MAX);
