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
});
