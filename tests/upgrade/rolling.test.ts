import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import { checkRecords } from "../cluster/check-records.ts";
import { Records } from "../cluster/records.ts";
import { workDuring } from "../cluster/work.ts";
import { serveWorld } from "../cluster/world.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { createDatabase } from "../services/databases.ts";
import { startPostgres } from "../services/postgres-server.ts";
import { Balancer } from "./balancer.ts";
import { isAsked, versionOf } from "./versions.ts";

/** The last commit whose server knows SQLite alone. */
const SQLITE_ALONE = process.env["UPGRADE_FROM"] ?? "9107ce5";
/** The first commit whose server can keep its rows in PostgreSQL. */
const FIRST_ON_POSTGRES = process.env["UPGRADE_FROM"] ?? "dffd4492";

const TEST_TIMEOUT_MS = 600_000;
/** How long clients work with each set of nodes. */
const WORK_MS = 8_000;
/** A stopping node still serves for this long, and then waits this long for streams and runs. */
const DRAIN = { DRAIN_DELAY_MS: "1000", DRAIN_MS: "60000" };
/** A busy machine can stand still for seconds, which is not the upgrade's fault. */
const PATIENT = { DATABASE_TIMEOUT_MS: "30000", LEASE_MS: "60000" };
/** Two clients change a conversation at the same time, which one of them is told. */
const MAY_BE_MET = /^(conversation|note): 400$/;

test.skipIf(!isAsked)(
  `no request fails and no stream breaks while a server of ${SQLITE_ALONE} on SQLite is replaced`,
  async () => {
    const [old, folder] = [await versionOf(SQLITE_ALONE), temporaryFolder()];
    await upgradeUnderLoad({ old, env: { DATA_DIR: folder }, nodes: 1 });
  },
  TEST_TIMEOUT_MS,
);

test.skipIf(!isAsked)(
  `no request fails and no stream breaks while nodes of ${FIRST_ON_POSTGRES} on PostgreSQL are replaced one by one`,
  async () => {
    const [old, folder] = [await versionOf(FIRST_ON_POSTGRES), temporaryFolder()];
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const env = { DATA_DIR: folder, DATABASE_URL: await createDatabase(server.url()), ...PATIENT };
    await upgradeUnderLoad({ old, env, nodes: 2 });
  },
  TEST_TIMEOUT_MS,
);

interface Upgrade {
  /** The folder of the version before. */
  readonly old: string;
  readonly env: Readonly<Record<string, string>>;
  readonly nodes: number;
}

/** Replaces all nodes while clients work, and checks what the clients were told. */
async function upgradeUnderLoad({ old, env, nodes }: Upgrade): Promise<void> {
  const world = await serveWorld("127.0.0.1");
  const balancer = await Balancer.start();
  const settings = {
    NODE_ENV: "production",
    MODEL_BASE_URL: world.modelUrl,
    EGRESS_ALLOW: "127.0.0.1",
    ...DRAIN,
    ...env,
  };
  const begin = async (root?: string): Promise<ChildServer> => {
    const server = await startChildServer({ env: settings, ...(root === undefined ? {} : { root }) });
    await balancer.add(server.url);
    return server;
  };
  const retire = async (server: ChildServer): Promise<void> => {
    await server.stop();
    balancer.remove(server.url);
  };
  let serving: readonly ChildServer[] = await Promise.all(Array.from({ length: nodes }, () => begin(old)));
  const desk = { client: clientOf(balancer.url, serving), world, records: new Records() };
  await workDuring(desk, async () => {
    await sleep(WORK_MS);
    for (const [index, server] of serving.entries()) {
      const next = await begin();
      await sleep(WORK_MS);
      await retire(server);
      if (index === 0 && nodes > 1) await retire(await begin(old)); // It finds the tables of the new version.
      serving = [...serving.filter((other) => other !== server), next];
    }
    await sleep(WORK_MS);
  });
  const counts = desk.records.counts();
  console.log(counts); // What was shown, for whoever asked for this trial.
  expect(
    await checkRecords(
      desk.records,
      world,
      serving.map(({ url }) => clientOf(url, serving)),
    ),
  ).toEqual([]);
  expect(Object.keys(counts).filter((what) => what.includes(": ") && !MAY_BE_MET.test(what))).toEqual([]);
  expect(desk.records.views.filter(({ resumed }) => resumed > 0)).toEqual([]);
  const ends = new Set(desk.records.views.map(({ final }) => final?.status));
  expect([...ends]).toEqual(["completed"]);
}

function clientOf(url: string, [server]: readonly ChildServer[]): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: server?.apiKey ?? "", maxRetries: 0 });
}
