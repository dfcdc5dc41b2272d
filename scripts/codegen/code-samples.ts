import { isObject, type Json, type JsonObject, objectAt, textAt } from "./json.ts";

/** What Redoc shows beside an operation. */
interface CodeSample {
  readonly [name: string]: string;
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

interface Operation {
  readonly operationId: string;
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  /** An example of its JSON body; null if it has none. */
  readonly body: JsonObject | null;
  /** Whether its body is a form. */
  readonly isForm: boolean;
}

/** Stands for the address of the server; the page puts in its own. */
export const ADDRESS = "http://127.0.0.1:8080";
const METHODS = ["get", "post", "put", "patch", "delete"];
const FORMS: Readonly<Record<string, readonly string[]>> = {
  createFile: ["purpose=user_data", "file=@notes.txt"],
  createSkill: ["files=@invoices.zip"],
  createSkillVersion: ["files=@invoices.zip", "default=true"],
  transcribe: ["audio=@recording.wav"],
  transcribeAndFormat: ["audio=@recording.wav", "instruction='as a list'"],
};
/** The members of the same forms, for the official SDKs. */
const TYPESCRIPT_FORMS: Readonly<Record<string, string>> = {
  createFile: '{ purpose: "user_data", file: createReadStream("notes.txt") }',
  createSkill: '{ files: createReadStream("invoices.zip") }',
  createSkillVersion: '{ files: createReadStream("invoices.zip"), default: true }',
};
const PYTHON_FORMS: Readonly<Record<string, readonly string[]>> = {
  createFile: ['purpose="user_data"', 'file=open("notes.txt", "rb")'],
  createSkill: ['files=open("invoices.zip", "rb")'],
  createSkillVersion: ['files=open("invoices.zip", "rb")', "default=True"],
};
const TEXT_LINES: Readonly<Record<string, string>> = {
  streamTranscription: '{"type":"chunk","audio_base64":"AAAA","last":true}',
};

/** Example values of the parameters in paths. */
const IDS: Readonly<Record<string, string>> = {
  api_key_id: "key_123",
  batch_id: "vsfb_123",
  completion_id: "chatcmpl-123",
  container_id: "cntr_123",
  conversation_id: "conv_123",
  event_id: "evt_123",
  effect_id: "mcp_123",
  file_id: "file-123",
  item_id: "msg_123",
  key_id: "key_123",
  model: "antiphon-built-in",
  project_id: "default%2Fdefault",
  response_id: "resp_123",
  skill_id: "skill_123",
  vector_store_id: "vs_123",
  version: "2",
  webhook_endpoint_id: "whe_123",
};

/** Batches of requests and of files have the same name in paths. */
function exampleId(path: string, name: string): string {
  return name === "batch_id" && path.startsWith("/v1/batches/") ? "batch_123" : (IDS[name] ?? name);
}

/** Paths whose query needs the start of a time, and a query for them. */
const TIMED_PATHS = /^\/v1\/organization\/(?:usage\/|costs)/;
const TIMED_QUERY = "?start_time=1735689600";

/** The methods of the official SDKs, as TypeScript calls them. Operations without one have a sample in curl only. */
const SDK_METHODS: Readonly<Record<string, string>> = {
  createEmbedding: "embeddings.create",
  createResponse: "responses.create",
  countInputTokens: "responses.inputTokens.count",
  compactResponse: "responses.compact",
  getResponse: "responses.retrieve",
  deleteResponse: "responses.delete",
  cancelResponse: "responses.cancel",
  listInputItems: "responses.inputItems.list",
  createConversation: "conversations.create",
  getConversation: "conversations.retrieve",
  updateConversation: "conversations.update",
  deleteConversation: "conversations.delete",
  createConversationItems: "conversations.items.create",
  listConversationItems: "conversations.items.list",
  getConversationItem: "conversations.items.retrieve",
  deleteConversationItem: "conversations.items.delete",
  listModels: "models.list",
  getModel: "models.retrieve",
  deleteModel: "models.delete",
  listFiles: "files.list",
  createFile: "files.create",
  getFile: "files.retrieve",
  deleteFile: "files.delete",
  downloadFile: "files.content",
  listVectorStores: "vectorStores.list",
  createVectorStore: "vectorStores.create",
  getVectorStore: "vectorStores.retrieve",
  modifyVectorStore: "vectorStores.update",
  deleteVectorStore: "vectorStores.delete",
  searchVectorStore: "vectorStores.search",
  listVectorStoreFiles: "vectorStores.files.list",
  createVectorStoreFile: "vectorStores.files.create",
  getVectorStoreFile: "vectorStores.files.retrieve",
  updateVectorStoreFileAttributes: "vectorStores.files.update",
  deleteVectorStoreFile: "vectorStores.files.delete",
  getVectorStoreFileContent: "vectorStores.files.content",
  createVectorStoreFileBatch: "vectorStores.fileBatches.create",
  getVectorStoreFileBatch: "vectorStores.fileBatches.retrieve",
  cancelVectorStoreFileBatch: "vectorStores.fileBatches.cancel",
  listFilesInVectorStoreBatch: "vectorStores.fileBatches.listFiles",
  listContainers: "containers.list",
  createContainer: "containers.create",
  getContainer: "containers.retrieve",
  deleteContainer: "containers.delete",
  listContainerFiles: "containers.files.list",
  createContainerFile: "containers.files.create",
  getContainerFile: "containers.files.retrieve",
  deleteContainerFile: "containers.files.delete",
  downloadContainerFile: "containers.files.content.retrieve",
  listSkills: "skills.list",
  createSkill: "skills.create",
  getSkill: "skills.retrieve",
  updateSkill: "skills.update",
  deleteSkill: "skills.delete",
  downloadSkill: "skills.content.retrieve",
  listSkillVersions: "skills.versions.list",
  createSkillVersion: "skills.versions.create",
  getSkillVersion: "skills.versions.retrieve",
  deleteSkillVersion: "skills.versions.delete",
  downloadSkillVersion: "skills.versions.content.retrieve",
  listBatches: "batches.list",
  createBatch: "batches.create",
  getBatch: "batches.retrieve",
  cancelBatch: "batches.cancel",
  listWebhookEndpoints: "webhooks.list",
  createWebhookEndpoint: "webhooks.create",
  getWebhookEndpoint: "webhooks.retrieve",
  updateWebhookEndpoint: "webhooks.update",
  deleteWebhookEndpoint: "webhooks.delete",
  rotateWebhookSecret: "webhooks.rotateSecret",
  testWebhookEndpoint: "webhooks.test",
  listWebhookEventTypes: "webhooks.eventTypes.list",
};

/** The document with samples in curl and the official SDKs at each operation. */
export function withCodeSamples(document: JsonObject, hasKeys: boolean): JsonObject {
  const paths = Object.entries(objectAt(document, "paths")).map(([path, item]): [string, Json] => [
    path,
    isObject(item) ? withSamplesAt(path, item, hasKeys) : item,
  ]);
  return { ...document, paths: Object.fromEntries(paths) };
}

function withSamplesAt(path: string, item: JsonObject, hasKeys: boolean): JsonObject {
  const operations = METHODS.filter((method) => isObject(item[method])).map((method): [string, JsonObject] => {
    const operation = objectAt(item, method);
    const samples = samplesOf(readOperation(path, method, operation), hasKeys);
    return [method, { ...operation, "x-codeSamples": samples }];
  });
  return { ...item, ...Object.fromEntries(operations) };
}

function readOperation(path: string, method: string, operation: JsonObject): Operation {
  const content = objectAt(objectAt(operation, "requestBody"), "content");
  const { example } = objectAt(content, "application/json");
  return {
    operationId: textAt(operation, "operationId") ?? "",
    method: method.toUpperCase(),
    path,
    body: isObject(example) ? withExampleIds(example) : null,
    isForm: "multipart/form-data" in content,
  };
}

/** The contract's examples name ids of their full length. */
function withExampleIds(example: JsonObject): JsonObject {
  const short = JSON.stringify(example).replaceAll("file-0123456789abcdef", "file-123");
  const parsed: Json = JSON.parse(short);
  return isObject(parsed) ? parsed : example;
}

function samplesOf(operation: Operation, hasKeys: boolean): readonly CodeSample[] {
  const curl = { lang: "Shell", label: "curl", source: curlSample(operation, hasKeys) };
  const method = SDK_METHODS[operation.operationId];
  if (method === undefined || !hasKeys) return [curl];
  return [
    curl,
    { lang: "JavaScript", label: "TypeScript", source: typescriptSample(operation, method) },
    { lang: "Python", label: "Python", source: pythonSample(operation, method) },
  ];
}

function curlSample({ operationId, method, path, body, isForm }: Operation, hasKeys: boolean): string {
  const place = ADDRESS + path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => exampleId(path, name));
  const url = TIMED_PATHS.test(path) ? `"${place}${TIMED_QUERY}"` : place;
  const line = TEXT_LINES[operationId];
  const form = isForm && body === null ? (FORMS[operationId] ?? []) : [];
  const parts = [
    `curl${line === undefined ? "" : " -N"} ${url}`,
    method === "GET" || (method === "POST" && (body !== null || form.length > 0)) ? "" : `-X ${method}`,
    hasKeys && path.startsWith("/v1/") ? '-H "Authorization: Bearer $ANTIPHON_API_KEY"' : "",
    body === null ? "" : '-H "Content-Type: application/json"',
    body === null ? "" : `-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`,
    line === undefined ? "" : '-H "Content-Type: application/x-ndjson"',
    line === undefined ? "" : `--data-binary '${line}'`,
    ...form.map((field) => `-F ${field}`),
  ];
  return parts.filter((part) => part !== "").join(" \\\n  ");
}

function typescriptSample({ operationId, path, body }: Operation, method: string): string {
  const [own, others] = parametersOf(path);
  const members = { ...others, ...body };
  const form = TYPESCRIPT_FORMS[operationId] ?? null;
  const options = form ?? (Object.keys(members).length === 0 ? null : literal(members));
  const given = [own === null ? null : JSON.stringify(own), options].filter((argument) => argument !== null).join(", ");
  return `${form === null ? "" : 'import { createReadStream } from "node:fs";\n'}import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${ADDRESS}/v1", apiKey: process.env.ANTIPHON_API_KEY });

const result = await client.${method}(${given});
console.log(${shownOf(operationId, "typescript")});
`;
}

function pythonSample({ operationId, path, body }: Operation, method: string): string {
  const [own, others] = parametersOf(path);
  const members = Object.entries({ ...others, ...body }).map(([name, value]) => `${name}=${pythonLiteral(value)}`);
  const form = PYTHON_FORMS[operationId] ?? [];
  const given = [...(own === null ? [] : [JSON.stringify(own)]), ...members, ...form].join(", ");
  const snake = method.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return `import os
from openai import OpenAI

client = OpenAI(base_url="${ADDRESS}/v1", api_key=os.environ["ANTIPHON_API_KEY"])

result = client.${snake}(${given})
print(${shownOf(operationId, "python")})
`;
}

/** The SDKs take the last parameter of a path first, and the others by name. */
function parametersOf(path: string): readonly [string | null, JsonObject] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const others = names.slice(0, -1).map((name): [string, string] => [name, exampleId(path, name)]);
  const own = names.at(-1);
  return [own === undefined ? null : exampleId(path, own), Object.fromEntries(others)];
}

function shownOf(operationId: string, language: "python" | "typescript"): string {
  if (operationId === "createResponse") return "result.output_text";
  if (!operationId.startsWith("download")) return "result";
  return language === "python" ? "result.text" : "await result.text()";
}

/** JSON as people write it in TypeScript. */
function literal(value: Json): string {
  return JSON.stringify(value, null, 2).replaceAll(/^( *)"(\w+)":/gm, "$1$2:");
}

function pythonLiteral(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((element: Json) => pythonLiteral(element)).join(", ")}]`;
  if (isObject(value)) {
    return `{${Object.entries(value)
      .map(([name, member]) => `${JSON.stringify(name)}: ${pythonLiteral(member)}`)
      .join(", ")}}`;
  }
  if (value === null) return "None";
  return typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);
}
