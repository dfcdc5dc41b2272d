import { afterAll, beforeAll, expect, test } from "vitest";
import { contractOperations } from "../hostile/contract-operations.ts";
import { localSttDocument } from "../hostile/contract-schema.ts";
import { makeUnknownEffect } from "../inspection/unknown-effect.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { formOf, namedFile, uploadFile } from "../kit/upload.ts";
import { type LocalSttServer, startLocalSttServer } from "../local-stt-server.ts";
import { manifest } from "../skills/skill-files.fixture.ts";
import { verifies } from "../verifies.ts";
import { makeToldEndpoint } from "../webhooks/told-endpoint.ts";
import { REACHES_RECEIVERS } from "../webhooks/webhook-server.ts";

const SCENARIO = `scenarios:
  - when: { input_contains: Write slowly }
    events: [{ text: The sea }, { delay_ms: 60000 }, { text: is wide. }]`;

let speech: LocalSttServer;
let responses: TestServer;
beforeAll(async () => {
  const served = startTestServer({ env: REACHES_RECEIVERS, scenario: SCENARIO });
  [speech, responses] = await Promise.all([startLocalSttServer(), served]);
});
afterAll(() => Promise.all([speech.close(), responses.close()]));

test.each([
  ["the speech server", "local-stt", () => speech.url],
  ["the Responses API", "responses-api", () => responses.url],
])("%s publishes its document, and shows it to people without anything from elsewhere", async (_what, name, url) => {
  verifies("stt.docs.served");
  const document = await (await fetch(`${url()}/openapi.json`)).json();
  expect(document).toMatchObject({ openapi: expect.stringMatching(/^3\.1/), paths: expect.any(Object) });
  const page = await fetch(`${url()}/docs`);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const html = await page.text();
  for (const part of [`<html lang="en" data-interface="${name}">`, `<script type="application/json" id="${name}">`])
    expect(html.includes(part), part).toBe(true);
  const loaded = [...html.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"/g)].map(([, from]) => from);
  expect(loaded).toEqual(["/docs/redoc.standalone.js"]);
  expect((await fetch(`${url()}${loaded[0]}`)).status).toBe(200);
});

const withSamples = contractOperations().filter(({ bodyTypes }) => bodyTypes.includes("application/json"));
/** The file that the samples name. */
const SAMPLE_FILE = "file-0123456789abcdef";

/** A skill of two versions. */
async function makeSkill(): Promise<string> {
  const send = async (path: string): Promise<string> => {
    const body = formOf({ files: new File([manifest("adding")], "SKILL.md", { type: "text/plain" }) });
    return String(Object(await (await responses.fetch(path, { method: "POST", body })).json()).id);
  };
  const skill = await send("/v1/skills");
  await send(`/v1/skills/${skill}/versions`);
  return skill;
}

/** Something of each kind that a sample or its path names, by the names of the parameters. */
async function makeThings(operationId: string): Promise<Readonly<Record<string, string>>> {
  const idOf = async (reply: Promise<Response>): Promise<string> => String(Object(await (await reply).json()).id);
  const file = await idOf(uploadFile(responses, namedFile("The tide rises twice a day.", "tides.txt")));
  const answer = await idOf(responses.post("/v1/responses", { model: "antiphon-built-in", input: "Hi" }));
  const slow = { model: "antiphon-built-in", input: "Write slowly", background: true };
  return {
    response_id: operationId === "steerResponse" ? await idOf(responses.post("/v1/responses", slow)) : answer,
    effect_id: await makeUnknownEffect(responses.dataDir, answer),
    conversation_id: await idOf(responses.post("/v1/conversations", {})),
    vector_store_id: await idOf(responses.post("/v1/vector_stores", { file_ids: [file] })),
    container_id: await idOf(responses.post("/v1/containers", { name: "Analysis" })),
    file_id: file,
    batch_file_id: await idOf(uploadFile(responses, namedFile("{}", "lines.jsonl"), "batch")),
    skill_id: await makeSkill(),
    ...(await makeToldEndpoint(responses)),
  };
}

test.each(withSamples)("the Responses API accepts the sample request of $operationId", async (sample) => {
  const { operationId, path, example } = sample;
  verifies("stt.docs.served");
  const things = await makeThings(operationId);
  const file = things[operationId === "createBatch" ? "batch_file_id" : "file_id"];
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => things[name] ?? "");
  const body: unknown = JSON.parse(JSON.stringify(example).replaceAll(SAMPLE_FILE, file ?? ""));
  const reply = await responses.post(filled, body);
  expect(reply.status, await reply.text()).toBe(operationId === "steerResponse" ? 202 : 200);
});

test("the speech server accepts the sample request of /format", async () => {
  verifies("stt.docs.served");
  const samples = contractOperations(localSttDocument).filter(({ example }) => example !== undefined);
  expect(samples.map(({ operationId }) => operationId)).toContain("format");
  for (const { path, example } of samples) {
    const headers = { "content-type": "application/json" };
    const reply = await fetch(speech.url + path, { method: "POST", headers, body: JSON.stringify(example) });
    expect(reply.status, await reply.text()).toBe(200);
  }
});
