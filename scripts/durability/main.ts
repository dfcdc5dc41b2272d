import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { assertNever } from "@antiphon/base/assert.ts";
import { whyNoPostgres } from "../../tests/services/postgres-server.ts";
import { nameOfThisTree } from "../check-out.ts";
import { raceAzure } from "./azure/race-azure.ts";
import { complaintsOf } from "./figures/complaints.ts";
import { isGood, type Outcome } from "./figures/outcome.ts";
import { tableOf } from "./figures/table.ts";
import { type Options, type Part, readOptions, USAGE } from "./options.ts";
import { raceClients } from "./race-clients.ts";
import { raceKills } from "./race-kills.ts";
import { raceOutages } from "./race-outages.ts";
import { startOnPostgres, startOnSqlite } from "./systems/antiphon.ts";
import { withSystem } from "./with-system.ts";

/**
 * Kills servers under background responses, breaks their database, and checks that every response comes to its end,
 * that no effect happens twice, and that readers see every event once. The same is done to a peer, whose figures are
 * printed beside and do not count. Exits with 1 if a run did not complete or a check failed.
 */
const LOGS = join(import.meta.dirname, "../../build/durability");

/** What a part came to; text says why it has no figures. */
type Tried = Outcome | string;

async function run(options: Options): Promise<void> {
  rmSync(LOGS, { recursive: true, force: true });
  mkdirSync(LOGS, { recursive: true });
  console.log(`tree ${nameOfThisTree()}, Node ${process.version}; logs are in build/durability`);
  const tried: { readonly part: Part; readonly came: Tried }[] = [];
  for (const part of options.parts) {
    const came = await tryPart(part, options).catch((error: unknown) => `it broke off: ${String(error)}`);
    tried.push({ part, came });
    console.log(typeof came === "string" ? `${part}: no figures: ${came}` : reportOf(came));
  }
  const outcomes = tried.flatMap(({ came }) => (typeof came === "string" ? [] : [came]));
  if (outcomes.length > 1) console.log(`\nside by side\n${tableOf(outcomes)}`);
  const ours = tried.filter(({ part }) => part !== "peer");
  if (!ours.every(({ came }) => typeof came !== "string" && isGood(came))) process.exitCode = 1;
}

function reportOf(outcome: Outcome): string {
  return ["", tableOf([outcome]), ...complaintsOf(outcome).map((line) => `  ${line}`), ""].join("\n");
}

async function tryPart(part: Part, options: Options): Promise<Tried> {
  const { runs, wave, outages, underWay } = options;
  const logs = join(LOGS, part);
  if ((part === "postgres" || part === "outages") && whyNoPostgres() !== undefined) return String(whyNoPostgres());
  switch (part) {
    case "sqlite":
      return await withSystem(
        options,
        (world) => startOnSqlite({ world, logs }),
        ({ world, system }) => raceKills({ title: "one server, SQLite", world, system, runs, wave }),
      );
    case "postgres":
      return await withSystem(
        options,
        (world) => startOnPostgres({ world, logs }),
        ({ world, system }) => raceKills({ title: "two nodes, PostgreSQL", world, system, runs, wave }),
      );
    case "clients":
      return await withSystem(
        options,
        (world) => (whyNoPostgres() === undefined ? startOnPostgres({ world, logs }) : startOnSqlite({ world, logs })),
        ({ world, system }) => raceClients({ title: "repeated creates, webhooks", world, system, runs, wave }),
      );
    case "outages":
      return await withSystem(
        options,
        (world) => startOnPostgres({ world, logs }),
        ({ world, system }) => raceOutages({ title: "outages of PostgreSQL", world, system, outages, underWay }),
      );
    case "peer":
      return await raceAzure({ logs, runs, wave, hasSameWords: options.hasSameWords });
    default:
      return assertNever(part);
  }
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options === null) console.log(USAGE);
  else await run(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
