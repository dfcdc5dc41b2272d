import { expect, onTestFinished, test } from "vitest";
import { until } from "../crash/lives.ts";
import { beginMoment, MOMENTS, readOn, serveMoments } from "../crash/moments.ts";
import { slowSteps } from "../crash/slow-steps.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { createDatabase } from "../services/databases.ts";
import { startPostgres } from "../services/postgres-server.ts";
import { verifies } from "../verifies.ts";
import { isAsked, versionOf } from "./versions.ts";

/** The last commit whose server ends responses that were interrupted. */
const BEFORE = process.env["UPGRADE_FROM"] ?? "cd2962a6";
const REPLACEMENTS = 20;
const TEST_TIMEOUT_MS = 600_000;

const STORES: Readonly<Record<string, () => Promise<Readonly<Record<string, string>>>>> = {
  SQLite: async () => ({}),
  PostgreSQL: async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    return { DATABASE_URL: await createDatabase(server.url()), LEASE_MS: "3000" };
  },
};

const CASES = Object.keys(STORES).flatMap((store) =>
  ["this version", BEFORE].map((version) => [store, version] as const),
);

test.skipIf(!isAsked).each(CASES)(
  `one response goes on over ${REPLACEMENTS} servers, on %s, begun by %s`,
  async (store, version) => {
    verifies("state.crash.restarts-are-limited");
    const world = await slowSteps(REPLACEMENTS);
    const begin = await starting(store, { MODEL_BASE_URL: world.modelUrl, EGRESS_ALLOW: "127.0.0.1" });
    let server = await begin(version === BEFORE ? await versionOf(BEFORE) : undefined);
    const tools = [{ type: "mcp", server_label: "bank", server_url: world.mcpUrl, require_approval: "never" }];
    const body = { model: "m", input: "number 1", tools, background: true };
    const { id } = await readResponse(await server.post("/v1/responses", body));
    for (let step = 0; step < REPLACEMENTS; step++) {
      await world.begun(step);
      const next = await begin();
      await server.stop();
      server = next;
    }
    expect(await until(server, id, "completed", "failed")).toMatchObject({ status: "completed", error: null });
    expect(world.turns()).toBe(REPLACEMENTS + 1);
    const { events } = await readStream(await server.fetch(`/v1/responses/${id}/events?dialect=reference`));
    expect(events.filter(({ type }) => type === "response.mcp_call.completed")).toHaveLength(REPLACEMENTS);
  },
  TEST_TIMEOUT_MS,
);

test.skipIf(!isAsked).each(Object.keys(STORES))(
  `responses that a server of ${BEFORE} had begun are completed by this version, on %s`,
  async (store) => {
    verifies("state.crash.older-events");
    const model = await serveMoments();
    const begin = await starting(store, { MODEL_BASE_URL: model.url });
    const old = await begin(await versionOf(BEFORE));
    const made = await Promise.all(
      Object.entries(MOMENTS).map(async ([name, { output }]) => ({ ...(await beginMoment(old, name)), output })),
    );
    const server = await begin();
    await old.stop();
    for (const { id, begun, output } of made) {
      const stream = await readOn(server, id, begun);
      expect(stream.final).toMatchObject({ status: "completed", error: null, output });
    }
  },
  TEST_TIMEOUT_MS,
);

/** Starts servers of one database and folder, of this version or of the one in a folder. */
async function starting(store: string, env: Readonly<Record<string, string>>) {
  const database = (await STORES[store]?.()) ?? {};
  const settings = { NODE_ENV: "production", DATA_DIR: temporaryFolder(), DRAIN_MS: "200", ...env, ...database };
  return (root?: string): Promise<ChildServer> =>
    startChildServer({ env: settings, ...(root === undefined ? {} : { root }) });
}
