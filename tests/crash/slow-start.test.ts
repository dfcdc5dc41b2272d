import { setTimeout as sleep } from "node:timers/promises";
import { type Logger, silentLogger } from "@antiphon/base/logger.ts";
import { expect, onTestFinished, test } from "vitest";
import { UsageMeter } from "../../src/responses-api/access/usage-meter.ts";
import { ApprovalsInUse } from "../../src/responses-api/create/response-lock.ts";
import { RunRecovery } from "../../src/responses-api/recovery/run-recovery.ts";
import { createSealer } from "../../src/responses-api/seal.ts";
import { KnownRequests, RunHost } from "../../src/runs/index.ts";
import type { RunLedger, UnmadeRuns } from "../../src/runs/ports/run-ledger.ts";
import type { RunWatch } from "../../src/runs/ports/run-watch.ts";
import { openTestStore } from "../../src/store/store.fixture.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { verifies } from "../verifies.ts";
import { serveModel, start, until } from "./lives.ts";

const WATCH: RunWatch = {
  trace: null,
  began: () => {},
  countEvents: () => {},
  noteFailure: () => {},
  noteEnd: () => {},
  noteRefusal: () => {},
  noteLeave: () => {},
  noteIncident: () => {},
};

/** A run recovery with a store whose claims wait until the test releases them. */
async function recoveryWithHeldClaims() {
  const { events, ledger, tools } = await openTestStore();
  const gate = Promise.withResolvers<UnmadeRuns>();
  const waiting: RunLedger = {
    listUnmade: () => gate.promise,
    claim: (runs) => ledger.claim(runs),
    countWaiting: async () => 0,
    listHeld: () => ledger.listHeld(),
    countRestart: (id, steps) => ledger.countRestart(id, steps),
    release: (id, release) => ledger.release(id, release),
    renewLease: () => ledger.renewLease(),
    requestStop: (id) => ledger.requestStop(id),
    requestPause: (responseId) => ledger.requestPause(responseId),
    requestResume: (responseId) => ledger.requestResume(responseId),
    stopPaused: (before) => ledger.stopPaused(before),
    listRequests: () => ledger.listRequests(),
  };
  const said: string[] = [];
  const note = (_fields: object, message: string): void => void said.push(message);
  const logger: Logger = { ...silentLogger, info: note, error: note };
  const recovery = new RunRecovery(
    {
      ordering: {
        ask: () => Promise.reject(new Error("no run is made here")),
        eventLog: events,
        observer: { watch: () => WATCH },
        sealer: createSealer(() => [new Uint8Array(32)]),
        nodeName: "node",
        meter: new UsageMeter({ note() {} }, { priceOf: () => null }),
        requests: new KnownRequests(),
      },
      toolLedger: tools,
      runs: new RunHost({ runsMax: 1, backgroundRunsMax: 1, queueMax: 1, runMs: 1_000 }),
      ledger: waiting,
      approvalsInUse: new ApprovalsInUse(),
      neighbours: null,
    },
    logger,
  );
  onTestFinished(() => recovery.close(AbortSignal.abort()));
  return { recovery, gate, said };
}

test("a start does not wait long for the runs of earlier processes, and logs that it continues", async () => {
  verifies("state.crash.start-is-bounded");
  const { recovery, gate, said } = await recoveryWithHeldClaims();
  await recovery.start(20);
  expect(said).toEqual(["serving requests while abandoned runs are still being recovered"]);
  gate.resolve({ runs: [], workers: 1, taskVersion: 0 });
});

test("start rejects if it cannot read the abandoned runs; a later failure is logged and retried", async () => {
  verifies("state.crash.start-is-bounded");
  const early = await recoveryWithHeldClaims();
  early.gate.reject(new Error("unreadable"));
  await expect(early.recovery.start()).rejects.toThrow("unreadable");
  const late = await recoveryWithHeldClaims();
  await late.recovery.start(20);
  late.gate.reject(new Error("unreadable"));
  await sleep(50);
  expect(late.said).toContain("could not renew the lease or recover runs");
});

test("many left runs are all ended, and the log says how many and how long it took", async () => {
  verifies("state.crash.start-is-bounded");
  const [folder, model] = [temporaryFolder(), await serveModel()];
  const first = await start(folder, model.url);
  const made = await first.post("/v1/responses", { model: "m", input: "Hi" });
  const { id } = await made.json();
  await first.stop();
  await query(
    folder,
    `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 300)
      insert into responses (id, organization, project, status, model, created_at, body, version, worker, streamed, stop_asked)
      select 'resp_left_' || n, organization, project, 'in_progress', model, created_at,
        replace(replace(body, '"completed"', '"in_progress"'), '${id}', 'resp_left_' || n), 1, null, 0, 0
      from numbers, responses where id = '${id}'`,
  );
  const second = await start(folder, model.url, { LOG_LEVEL: "info" });
  await until(second, "resp_left_300", "failed");
  const said = () => second.lines().find(({ msg }) => msg === "recovered all abandoned runs");
  while (said() === undefined) await sleep(50);
  expect(said()).toMatchObject({ runs: 300 });
  expect(await query(folder, "select distinct status from responses where id like 'resp_left%'")).toEqual([
    { status: "failed" },
  ]);
}, 60_000);
