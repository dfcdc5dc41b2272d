import { MatchersV3 } from "@pact-foundation/pact";
import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import type { Antiphon } from "../../packages/client/src/index.ts";
import { verifies } from "../../tests/verifies.ts";
import { shapeOf } from "../shape.fixture.ts";
import { checkInteraction, type Interaction } from "./interaction.fixture.ts";
import { checkRefusal } from "./refusal.fixture.ts";

const { fromProviderState, integer, like, regex, string } = MatchersV3;

const KEY_ID = "key_0123456789abcdef0067000000012345";
const UNKNOWN_KEY = "key_ffffffffffffffff0067000000ffffff";
const organization = "/v1/organization";
const adminKeys = `${organization}/admin_api_keys`;
const keys = `${organization}/keys`;
const PROJECT = "acme/books";
const projectKeys = `${organization}/projects/${encodeURIComponent(PROJECT)}/api_keys`;
/** The verifier replaces it with the key of the state. */
const theKey = fromProviderState("${key_id}", KEY_ID);
const given = ["our own server", "an operator"] as const;

/** The path of the key of the state. */
function ofKey(path: string) {
  return fromProviderState(`${path}/\${key_id}`, `${path}/${KEY_ID}`);
}

/** A day long ago, in which nothing was used. */
const DAY = { start_time: 1_700_006_400, end_time: 1_700_092_800 } as const;
const QUERY = { start_time: "1700006400", end_time: "1700092800" };
const EMPTY = {
  object: "page",
  data: [{ object: "bucket", ...DAY, results: [] }],
  has_more: false,
  next_page: null,
};

type Usage = OpenAI["admin"]["organization"]["usage"];

interface UsageCalls {
  readonly path: string;
  readonly official: (usage: Usage) => PromiseLike<unknown>;
  readonly own: (client: Antiphon) => PromiseLike<unknown>;
}

const USAGE: Readonly<Record<string, UsageCalls>> = {
  answers: {
    path: "usage/completions",
    official: (usage) => usage.completions(DAY),
    own: (client) => client.getCompletionsUsage(DAY),
  },
  vectors: {
    path: "usage/embeddings",
    official: (usage) => usage.embeddings(DAY),
    own: (client) => client.getEmbeddingsUsage(DAY),
  },
  moderations: {
    path: "usage/moderations",
    official: (usage) => usage.moderations(DAY),
    own: (client) => client.getModerationsUsage(DAY),
  },
  pictures: {
    path: "usage/images",
    official: (usage) => usage.images(DAY),
    own: (client) => client.getImagesUsage(DAY),
  },
  "spoken characters": {
    path: "usage/audio_speeches",
    official: (usage) => usage.audioSpeeches(DAY),
    own: (client) => client.getAudioSpeechesUsage(DAY),
  },
  transcripts: {
    path: "usage/audio_transcriptions",
    official: (usage) => usage.audioTranscriptions(DAY),
    own: (client) => client.getAudioTranscriptionsUsage(DAY),
  },
  "vector stores": {
    path: "usage/vector_stores",
    official: (usage) => usage.vectorStores(DAY),
    own: (client) => client.getVectorStoresUsage(DAY),
  },
  "sessions of the code interpreter": {
    path: "usage/code_interpreter_sessions",
    official: (usage) => usage.codeInterpreterSessions(DAY),
    own: (client) => client.getCodeInterpreterSessionsUsage(DAY),
  },
  "file searches": {
    path: "usage/file_search_calls",
    official: (usage) => usage.fileSearchCalls(DAY),
    own: (client) => client.getFileSearchCallsUsage(DAY),
  },
  "web searches": {
    path: "usage/web_search_calls",
    official: (usage) => usage.webSearchCalls(DAY),
    own: (client) => client.getWebSearchCallsUsage(DAY),
  },
  costs: { path: "costs", official: (usage) => usage.costs(DAY), own: (client) => client.getCosts(DAY) },
};

test.each(Object.entries(USAGE))("an operator gets the buckets of %s", async (what, { path, official, own }) => {
  verifies("contract.parity.same-checks-both-providers");
  await checkInteraction(
    {
      given: [...given],
      request: `for the usage of ${what}`,
      method: "GET",
      path: `${organization}/${path}`,
      query: QUERY,
      reply: { json: EMPTY },
    },
    {
      official: async (client) => expect(await official(client.admin.organization.usage)).toEqual(EMPTY),
      own: async (client) => expect(await own(client)).toEqual(EMPTY),
    },
  );
});

const ACCOUNT = { id: KEY_ID, name: "ci", created_at: 1_795_000_000, role: "owner" } as const;
const ADMIN_KEY = {
  object: "organization.admin_api_key",
  id: KEY_ID,
  name: "ci",
  redacted_value: "sk-…wxyz",
  created_at: 1_795_000_000,
  expires_at: null,
  last_used_at: null,
  owner: { type: "service_account", object: "organization.service_account", ...ACCOUNT },
} as const;
const PROJECT_KEY = {
  object: "organization.project.api_key",
  redacted_value: "sk-…wxyz",
  name: "ci",
  created_at: 1_795_000_000,
  last_used_at: null,
  id: KEY_ID,
  owner_project_access: "active",
  owner: { type: "service_account", service_account: { ...ACCOUNT, role: "member" } },
} as const;
const KEY = {
  object: "key",
  id: KEY_ID,
  name: "ci",
  redacted_value: "sk-…wxyz",
  is_operator: false,
  projects: [PROJECT],
  requests_per_minute: null,
  tokens_per_minute: null,
  tools: null,
  budget: { period: "month", amount: 20, tokens: null },
  spending: { amount: 0, tokens: 0, renews_at: 1_796_083_200 },
  created_at: 1_795_000_000,
  expires_at: null,
  revoked_at: null,
} as const;
const VALUE = "sk-antiphon-0123456789";

function withShape(shown: object, members: object = {}) {
  return { ...Object(shapeOf(shown)), redacted_value: regex("^sk-….{4}$", "sk-…wxyz"), ...members };
}

const keyShape = (members: object = {}) =>
  withShape(KEY, { spending: { amount: like(0), tokens: integer(0), renews_at: integer(1) }, ...members });
const listOf = (one: unknown) => ({
  object: "list",
  data: [one],
  first_id: string(KEY_ID),
  has_more: true,
  last_id: string(KEY_ID),
});

interface KeyCalls {
  readonly interaction: Pick<Interaction, "method" | "path" | "body" | "query"> & {
    readonly state?: "an operator beside another" | "an operator and a key of a project";
  };
  readonly json: unknown;
  readonly official: (client: OpenAI) => PromiseLike<unknown>;
  readonly own: (client: Antiphon) => PromiseLike<unknown>;
}

const OTHER = "an operator beside another";
const OF_PROJECT = "an operator and a key of a project";
const PLACE = { project_id: PROJECT };

const KEYS: Readonly<Record<string, KeyCalls>> = {
  "for operator's keys": {
    interaction: { method: "GET", path: adminKeys, query: { limit: "1" }, state: OTHER },
    json: listOf(withShape(ADMIN_KEY)),
    official: (client) => client.admin.organization.adminAPIKeys.list({ limit: 1 }),
    own: (client) => client.listAdminApiKeys({ limit: 1 }),
  },
  "to make an operator's key": {
    interaction: { method: "POST", path: adminKeys, body: { name: "ci" } },
    json: withShape(ADMIN_KEY, { value: regex("^sk-.+$", VALUE) }),
    official: (client) => client.admin.organization.adminAPIKeys.create({ name: "ci" }),
    own: (client) => client.createAdminApiKey({ name: "ci" }),
  },
  "for an operator's key": {
    interaction: { method: "GET", path: ofKey(adminKeys), state: OTHER },
    json: withShape(ADMIN_KEY),
    official: (client) => client.admin.organization.adminAPIKeys.retrieve(KEY_ID),
    own: (client) => client.getAdminApiKey(KEY_ID),
  },
  "to revoke an operator's key": {
    interaction: { method: "DELETE", path: ofKey(adminKeys), state: OTHER },
    json: { id: theKey, object: "organization.admin_api_key.deleted", deleted: true },
    official: (client) => client.admin.organization.adminAPIKeys.delete(KEY_ID),
    own: (client) => client.deleteAdminApiKey(KEY_ID),
  },
  "for the keys of a project": {
    interaction: { method: "GET", path: projectKeys, query: { limit: "1" }, state: OF_PROJECT },
    json: { ...listOf(withShape(PROJECT_KEY)), has_more: like(true) },
    official: (client) => client.admin.organization.projects.apiKeys.list(PROJECT, { limit: 1 }),
    own: (client) => client.listProjectApiKeys(PROJECT, { limit: 1 }),
  },
  "for a key of a project": {
    interaction: { method: "GET", path: ofKey(projectKeys), state: OF_PROJECT },
    json: withShape(PROJECT_KEY),
    official: (client) => client.admin.organization.projects.apiKeys.retrieve(KEY_ID, PLACE),
    own: (client) => client.getProjectApiKey(PROJECT, KEY_ID),
  },
  "to revoke a key of a project": {
    interaction: { method: "DELETE", path: ofKey(projectKeys), state: OF_PROJECT },
    json: { id: theKey, object: "organization.project.api_key.deleted", deleted: true },
    official: (client) => client.admin.organization.projects.apiKeys.delete(KEY_ID, PLACE),
    own: (client) => client.deleteProjectApiKey(PROJECT, KEY_ID),
  },
  "for all keys": {
    interaction: { method: "GET", path: keys, query: { limit: "1", order: "desc" }, state: OF_PROJECT },
    json: listOf(keyShape()),
    official: (client) => client.get("/organization/keys", { query: { limit: 1, order: "desc" } }),
    own: (client) => client.listKeys({ limit: 1, order: "desc" }),
  },
  "to make a key": {
    interaction: {
      method: "POST",
      path: keys,
      body: { name: "ci", projects: [PROJECT], budget: { period: "month", amount: 20 } },
    },
    json: keyShape({ value: regex("^sk-.+$", VALUE) }),
    official: (client) =>
      client.post("/organization/keys", {
        body: { name: "ci", projects: [PROJECT], budget: { period: "month", amount: 20 } },
      }),
    own: (client) => client.createKey({ name: "ci", projects: [PROJECT], budget: { period: "month", amount: 20 } }),
  },
  "for a key": {
    interaction: { method: "GET", path: ofKey(keys), state: OF_PROJECT },
    json: keyShape(),
    official: (client) => client.get(`/organization/keys/${KEY_ID}`),
    own: (client) => client.getKey(KEY_ID),
  },
  "to rename a key": {
    interaction: { method: "POST", path: ofKey(keys), body: { name: "nightly" }, state: OF_PROJECT },
    json: keyShape({ name: "nightly" }),
    official: (client) => client.post(`/organization/keys/${KEY_ID}`, { body: { name: "nightly" } }),
    own: (client) => client.updateKey(KEY_ID, { name: "nightly" }),
  },
  "to revoke a key": {
    interaction: { method: "DELETE", path: ofKey(keys), state: OF_PROJECT },
    json: { object: "key.deleted", id: theKey, deleted: true },
    official: (client) => client.delete(`/organization/keys/${KEY_ID}`),
    own: (client) => client.deleteKey(KEY_ID),
  },
};

test.each(Object.entries(KEYS))("an operator's request %s is answered", async (request, calls) => {
  verifies("contract.parity.same-checks-both-providers");
  const { state = "an operator", ...interaction } = calls.interaction;
  const shown = { object: expect.any(String) };
  await checkInteraction(
    { given: ["our own server", state], request, ...interaction, reply: { json: calls.json } },
    {
      official: async (client) =>
        expect(await calls.official(client)).toMatchObject(
          request.startsWith("for the") || request.includes("keys") ? {} : shown,
        ),
      own: async (client) => expect(await calls.own(client)).toMatchObject(shown),
    },
  );
});

describe("an operator's request is refused", () => {
  test("with a key that is not an operator's", async () => {
    verifies("usage.operators.only");
    const message = string("You have insufficient permissions for this operation. Missing scopes: api.usage.read.");
    await checkRefusal(
      {
        given: ["our own server"],
        request: "for costs without being an operator",
        method: "GET",
        path: `${organization}/costs`,
        query: QUERY,
      },
      { status: 403, code: "missing_scope", param: null, message },
      {
        official: (client) => client.admin.organization.usage.costs(DAY),
        own: (client) => client.getCosts(DAY),
      },
    );
  });

  test("to revoke the last operator's key", async () => {
    verifies("usage.operators.last-stays");
    const message = string("API key is the last operator's key. Make another one first.");
    await checkRefusal(
      {
        given: ["our own server", "the only operator"],
        request: "to revoke the last operator's key",
        method: "DELETE",
        path: ofKey(adminKeys),
      },
      { status: 400, code: "last_operator_key", param: null, message },
      {
        official: (client) => client.admin.organization.adminAPIKeys.delete(KEY_ID),
        own: (client) => client.deleteAdminApiKey(KEY_ID),
      },
    );
  });

  test("for a key that does not exist", async () => {
    verifies("usage.operators.keys");
    await checkRefusal(
      {
        given: [...given],
        request: "for a key that does not exist",
        method: "GET",
        path: `${adminKeys}/${UNKNOWN_KEY}`,
      },
      { status: 404, param: null, message: string("API key not found.") },
      {
        official: (client) => client.admin.organization.adminAPIKeys.retrieve(UNKNOWN_KEY),
        own: (client) => client.getAdminApiKey(UNKNOWN_KEY),
      },
    );
  });
});
