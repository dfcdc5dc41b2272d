import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "@antiphon/base/json/records.ts";
import { validateResponseStreamEvent } from "@antiphon/contracts/responses-api/validators.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parseRequirements } from "../scripts/requirements.ts";
import { startTestServer, type TestServer } from "./kit/test-server.ts";
import { says, serveBehind } from "./responses/behind-upstream.ts";
import { MODEL } from "./responses/check-refusal.ts";
import { readResponse } from "./responses/read-stream.ts";
import { DECISIONS, OPEN_QUESTIONS } from "./unknowns.ts";
import { verifies } from "./verifies.ts";
import { openSocket } from "./websocket/socket.ts";

const SPECS = join(import.meta.dirname, "../specs");

/** Checks of decisions that no requirement names, by their place in `specs/`. */
const SHOWN_HERE: Readonly<Record<string, (server: TestServer) => Promise<void>>> = {
  "schemas/common.yaml ServiceTier": async (server) => {
    for (const tier of ["auto", "default", "fast", "flex", "priority", "scale", "ultrafast"])
      expect((await create(server, { service_tier: tier })).status, tier).toBe("completed");
    const reply = await server.post("/v1/responses", { model: MODEL, input: "Hi", service_tier: "slow" });
    expect(await reply.text()).toContain("Supported values are: 'auto', 'default', 'fast', 'flex', and 'priority'.");
  },
  "schemas/events.yaml ResponseCompactionCompactingEvent": async () => {
    const event = { type: "response.compaction.compacting", item_id: "cmp_1", output_index: 1, sequence_number: 7 };
    expect(validateResponseStreamEvent(event)).toBe(true);
  },
  "schemas/responses.yaml StreamOptions": async (server) => {
    const options = { stream_options: { include_obfuscation: false } };
    for (const members of [options, { ...options, stream: false }])
      expect((await create(server, members)).status).toBe("completed");
  },
  "schemas/responses.yaml CreateResponseRequest/properties/client_metadata": async (server) => {
    const { id, ...made } = await create(server, { client_metadata: { origin: "a-codex" } });
    const kept = await (await server.fetch(`/v1/responses/${id}`)).text();
    expect(JSON.stringify(made) + kept).not.toMatch(/client_metadata|a-codex/);
  },
  "schemas/responses.yaml ResponseCreateFrame/properties/client_metadata": async (server) => {
    const socket = await openSocket(server);
    const { response } = await socket.create({ client_metadata: { origin: "a-codex" } });
    expect(response.status).toBe("completed");
    expect(JSON.stringify(response)).not.toMatch(/client_metadata|a-codex/);
    socket.leave();
  },
  "schemas/responses.yaml ResponseCreateFrame": async (server) => {
    const socket = await openSocket(server);
    for (const members of [{ stream: true }, { stream: false }, { background: false }, { background: null }])
      expect((await socket.create(members)).response.status).toBe("completed");
    expect((await socket.create({ background: true })).refusal.error.param).toBe("background");
    socket.leave();
  },
  "schemas/responses.yaml Usage": async () => {
    const { create: ask } = await serveBehind(says("Eight letters and some more"));
    const { usage } = await readResponse(await ask());
    expect(usage?.output_tokens).toBe(Math.ceil("Eight letters and some more".length / 4));
    expect(usage?.input_tokens).toBeGreaterThan(0);
  },
  "schemas/responses.yaml InputTokensRequest": async (server) => {
    const count = async (members: object): Promise<unknown> =>
      (await server.post("/v1/responses/input_tokens", { input: "Hi", ...members })).json();
    expect(await count({})).toEqual(await count({ model: MODEL }));
    const { id } = await create(server, {});
    expect(await count({ previous_response_id: id })).toMatchObject({ object: "response.input_tokens" });
  },
  "schemas/tools.yaml CustomTool": async (server) => {
    const { tools } = await create(server, { tools: [{ type: "custom", name: "c" }] });
    expect(tools).toMatchObject([{ type: "custom", name: "c", format: { type: "text" } }]);
  },
};

async function create(server: TestServer, members: object): ReturnType<typeof readResponse> {
  return readResponse(await server.post("/v1/responses", { model: MODEL, input: "Hi", ...members }));
}

describe("where the reference is unknown", () => {
  verifies("contract.unknowns.are-written-down");
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  test("each decision in specs/ names its requirements or has a check below", async () => {
    const files = await Array.fromAsync(glob("*/*.yaml", { cwd: SPECS }));
    const places = files.flatMap((file) => placesIn(file));
    expect(places.toSorted()).toEqual([...Object.keys(DECISIONS), ...Object.keys(SHOWN_HERE)].toSorted());
    const requirements = parseRequirements(readFileSync(join(SPECS, "requirements.yaml"), "utf8"));
    const shown = new Set(requirements.filter(({ awaits }) => awaits === null).map(({ id }) => id));
    for (const [place, ids] of Object.entries(DECISIONS)) {
      expect(ids.length, place).toBeGreaterThan(0);
      expect(
        ids.filter((id) => !shown.has(id)),
        place,
      ).toEqual([]);
    }
  });

  test.each(Object.entries(OPEN_QUESTIONS))("there is a decision on: %s", (_question, place) => {
    expect([...Object.keys(DECISIONS), ...Object.keys(SHOWN_HERE)]).toContain(place);
  });

  test.each(Object.entries(SHOWN_HERE))("the server follows the decision: %s", (_place, show) => show(server));
});

/** The places of decisions in a file. */
function placesIn(file: string): readonly string[] {
  return placesOf(parse(readFileSync(join(SPECS, file), "utf8"), { maxAliasCount: -1 }), []).map(
    (path) => `${file} ${path}`,
  );
}

function placesOf(value: unknown, path: readonly string[]): readonly string[] {
  if (!isRecord(value) && !Array.isArray(value)) return [];
  const own = isRecord(value) && "x-decision" in value ? [path.join("/")] : [];
  return [...own, ...Object.entries(value).flatMap(([name, member]) => placesOf(member, [...path, name]))];
}
