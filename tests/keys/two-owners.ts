import { setTimeout as sleep } from "node:timers/promises";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { formOf } from "../kit/upload.ts";
import { MODEL } from "../responses/check-refusal.ts";
import { manifest } from "../skills/skill-files.fixture.ts";

const OUR_KEY = "sk-ours-0123456789abcdef";
export const THEIR_KEY = "sk-theirs-0123456789abcdef";

/** One of two owners on one server. */
export interface Party {
  ask(method: string, path: string, body?: unknown): Promise<Response>;
}

export interface TwoOwners {
  readonly server: TestServer;
  readonly ours: Party;
  readonly theirs: Party;
}

/** Only their projects differ, the smallest difference between two owners. */
export async function startWithTwoOwners(): Promise<TwoOwners> {
  const server = await startTestServer({ env: { API_KEYS: `${OUR_KEY}=acme/ours,${THEIR_KEY}=acme/theirs` } });
  return { server, ours: partyOf(server, OUR_KEY), theirs: partyOf(server, THEIR_KEY) };
}

function partyOf({ url }: TestServer, key: string): Party {
  const authorization = `Bearer ${key}`;
  return {
    ask: (method, path, body) => fetch(url + path, { method, ...requestWith(authorization, body) }),
  };
}

function requestWith(authorization: string, body: unknown): RequestInit {
  if (body === undefined) return { headers: { authorization } };
  if (body instanceof FormData) return { headers: { authorization }, body };
  return { headers: { authorization, "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** One thing of each kind that has an id, by the parameter names of the contract's paths. */
export interface Things {
  readonly response_id: string;
  readonly conversation_id: string;
  /** An item of the conversation. */
  readonly item_id: string;
  readonly input_item_id: string;
  readonly output_item_id: string;
  /** An item of the response that is no call. */
  readonly effect_id: string;
  readonly file_id: string;
  readonly image_file_id: string;
  /** A store with the file, which is in the batch. */
  readonly vector_store_id: string;
  readonly batch_id: string;
  /** A batch of requests. Its path calls it `batch_id`, too. */
  readonly request_batch_id: string;
  readonly container_id: string;
  readonly container_file_id: string;
  /** A skill of two versions. */
  readonly skill_id: string;
  readonly webhook_endpoint_id: string;
  /** An event that the endpoint was sent. */
  readonly event_id: string;
}

/** The form of a skill. */
export function skillForm(): FormData {
  return formOf({ files: new File([manifest("adding")], "SKILL.md", { type: "text/plain" }) });
}

export async function makeThings(party: Party): Promise<Things> {
  const response = await made(party, "/v1/responses", { model: MODEL, input: "My name is Ada." });
  const items = await read(await party.ask("GET", `/v1/responses/${idOf(response)}/input_items`));
  const message = { type: "message", role: "user", content: "Hi" };
  const conversation = await made(party, "/v1/conversations", { items: [message] });
  const spoken = await read(await party.ask("GET", `/v1/conversations/${idOf(conversation)}/items`));
  const file = await upload(party, new File(["A word."], "a.txt", { type: "text/plain" }));
  const store = idOf(await made(party, "/v1/vector_stores", {}));
  const batch = await made(party, `/v1/vector_stores/${store}/file_batches`, { file_ids: [file] });
  const container = idOf(await made(party, "/v1/containers", { name: "work" }));
  const form = formOf({ file: new File(["A word."], "a.txt", { type: "text/plain" }) });
  const containerFile = await made(party, `/v1/containers/${container}/files`, form);
  const skill = idOf(await made(party, "/v1/skills", skillForm()));
  await made(party, `/v1/skills/${skill}/versions`, skillForm());
  const endpoint = idOf(await made(party, "/v1/webhook_endpoints", WEBHOOK_ENDPOINT));
  return {
    response_id: idOf(response),
    conversation_id: idOf(conversation),
    item_id: idOf(firstOf(spoken, "data")),
    input_item_id: idOf(firstOf(items, "data")),
    output_item_id: idOf(firstOf(response, "output")),
    effect_id: idOf(firstOf(response, "output")),
    file_id: file,
    image_file_id: await upload(party, new File([DOT], "dot.png", { type: "image/png" })),
    vector_store_id: store,
    batch_id: idOf(batch),
    request_batch_id: await requestBatch(party),
    container_id: container,
    container_file_id: idOf(containerFile),
    skill_id: skill,
    webhook_endpoint_id: endpoint,
    event_id: await sentEvent(party, endpoint),
  };
}

/** A batch whose file has faults. */
async function requestBatch(party: Party): Promise<string> {
  const file = formOf({ file: new File(["{}"], "lines.jsonl", { type: "text/plain" }), purpose: "batch" });
  const input_file_id = idOf(await made(party, "/v1/files", file));
  const batch = { input_file_id, endpoint: "/v1/responses", completion_window: "24h" };
  return idOf(await made(party, "/v1/batches", batch));
}

/** The discard port: nothing is sent. */
const WEBHOOK_ENDPOINT = { name: "Answers", url: "http://127.0.0.1:9/", event_types: ["response.completed"] };

/** Ends a background response, and resolves to the event of it. */
async function sentEvent(party: Party, endpoint: string): Promise<string> {
  await made(party, "/v1/responses", { model: MODEL, input: "Hi", background: true });
  for (;;) {
    const page = await read(await party.ask("GET", `/v1/webhook_endpoints/${endpoint}/deliveries`));
    const event = firstOf(page, "data");
    if (event !== undefined && event !== null) return idOf(event);
    await sleep(POLL_MS);
  }
}

const POLL_MS = 10;

/** Unused ids of the same form. */
export function unknownLike(things: Things): Things {
  const changed = (id: string): string =>
    id.slice(0, -8) + id.slice(-8).replaceAll(/./g, (digit) => DIGITS.charAt((DIGITS.indexOf(digit) + 1) % 16));
  return {
    response_id: changed(things.response_id),
    conversation_id: changed(things.conversation_id),
    item_id: changed(things.item_id),
    input_item_id: changed(things.input_item_id),
    output_item_id: changed(things.output_item_id),
    effect_id: changed(things.effect_id),
    file_id: changed(things.file_id),
    image_file_id: changed(things.image_file_id),
    vector_store_id: changed(things.vector_store_id),
    batch_id: changed(things.batch_id),
    request_batch_id: changed(things.request_batch_id),
    container_id: changed(things.container_id),
    container_file_id: changed(things.container_file_id),
    skill_id: changed(things.skill_id),
    webhook_endpoint_id: changed(things.webhook_endpoint_id),
    event_id: changed(things.event_id),
  };
}

const DIGITS = "0123456789abcdef";

/** An image of one transparent pixel. */
const DOT = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

/** The parts of a reply that must be equal: everything except what differs in each request. */
export interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `asked` are the requested ids. They are masked, and so are new ids and times. */
export async function seen(reply: Response, asked: Things): Promise<Seen> {
  let body = await reply.text();
  for (const id of Object.values(asked)) body = body.replaceAll(id, "ASKED");
  return {
    status: reply.status,
    headers: Object.fromEntries([...reply.headers].filter(([name]) => !PASSING_HEADERS.has(name))),
    body: body
      .replaceAll(FRESH_ID, "$1_FRESH")
      .replaceAll(TIME, '"$1_at": TIME')
      .replaceAll(SEALED, '"encrypted_content": SEALED'),
  };
}

const PASSING_HEADERS: ReadonlySet<string> = new Set([
  "date",
  "x-request-id",
  "openai-processing-ms",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-requests",
  "x-ratelimit-reset-tokens",
]);
const FRESH_ID = /\b([a-z]+)_[0-9a-f]{32,}\b/g;
/** Differs each time it is sealed. */
const SEALED = /"encrypted_content": ?"[^"]*"/g;
const TIME = /"(created|completed)_at": ?\d+/g;

async function upload(party: Party, file: File): Promise<string> {
  const form = formOf({ purpose: "user_data", file });
  return idOf(await made(party, "/v1/files", form));
}

async function made(party: Party, path: string, body: unknown): Promise<unknown> {
  return await read(await party.ask("POST", path, body));
}

async function read(reply: Response): Promise<unknown> {
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`${reply.url} answered ${reply.status}: ${text}`);
  return JSON.parse(text);
}

function firstOf(value: unknown, name: string): unknown {
  const list = new Map(Object.entries(Object(value))).get(name);
  return Array.isArray(list) ? list[0] : null;
}

function idOf(value: unknown): string {
  return String(new Map(Object.entries(Object(value))).get("id"));
}
