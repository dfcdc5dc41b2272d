import { describe, expect, test } from "vitest";
import { startCluster } from "./cluster.ts";
import { planFaults } from "./faults.ts";
import { hasCluster, WHY_SKIPPED } from "./needs.ts";
import { runTrial } from "./trial.ts";

/** `make cluster-test` sets higher numbers. */
const KILLS = Number(process.env["CLUSTER_KILLS"] ?? 2);
const CUTS = Number(process.env["CLUSTER_CUTS"] ?? 2);
const PAUSES = Number(process.env["CLUSTER_PAUSES"] ?? 0);
const CRASHES = Number(process.env["CLUSTER_CRASHES"] ?? 1);
const TEST_TIMEOUT_MS = 1_800_000;
/** Whether it is tried, too, that a trial notices a cluster that loses something. */
const SHOWS_LOSS = process.env["CLUSTER_SHOWS_LOSS"] === "1";
/** PostgreSQL answers before a commit is in its log, and writes the log rarely. */
const FORGETFUL = { synchronous_commit: "off", wal_writer_delay: "10s", wal_writer_flush_after: "1GB" };

describe.skipIf(!hasCluster)(`three nodes under load${WHY_SKIPPED}`, () => {
  test(
    `lose and double nothing in ${KILLS} kills, ${CUTS} cuts, ${PAUSES} pauses, and ${CRASHES} crashes of what they share`,
    async () => {
      const cluster = await startCluster({ nodes: 3 });
      const faults = planFaults({ kills: KILLS, cuts: CUTS, pauses: PAUSES, crashes: CRASHES });
      const outcome = await runTrial(cluster, faults);
      console.log(outcome);
      expect(outcome.faults).toEqual([]);
      expect(outcome.resumed).toBeGreaterThan(0);
      expect(outcome.ends["completed"]).toBeGreaterThan(0);
    },
    TEST_TIMEOUT_MS,
  );

  test.skipIf(!SHOWS_LOSS)(
    "lose events in crashes of a database whose synchronous_commit is off, and the trial notices",
    async () => {
      const cluster = await startCluster({ nodes: 3, databaseSettings: FORGETFUL });
      const { faults } = await runTrial(
        cluster,
        Array.from({ length: 4 }, () => "crash of the database" as const),
      );
      console.log(`${faults.length} faults, such as`, faults.slice(0, 5));
      expect(faults.length).toBeGreaterThan(0);
    },
    TEST_TIMEOUT_MS,
  );
});
