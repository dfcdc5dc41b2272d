import {
  validateCloudClientMessage,
  validateCloudServerMessage,
  validateSttClientMessage,
  validateSttServerMessage,
} from "@antiphon/contracts/local-stt/validators.js";
import { expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { CLOUD_STT, CLOUD_STT_STREAM } from "../cloud-stt/parties.fixture.ts";
import { readExchanges, type WrittenExchange } from "../exchange-pact.fixture.ts";
import { type Parties, pactFile, readInteractions } from "../pact-files.fixture.ts";
import { declaredCodes, declaredMessages, declaredReplies } from "../specification.fixture.ts";
import { LOCAL_STT, LOCAL_STT_STREAM } from "./parties.fixture.ts";
import { TRANSPORTS } from "./stream-states.fixture.ts";

/** Errors that no caller can cause, with the reason. */
const OUT_OF_REACH: Readonly<Record<string, string>> = {
  501: "This build leaves no operation out.",
  507: "No caller fills the disk of a server in a pact.",
  ...Object.fromEntries(
    ["format", "getHealth", "getMetrics", "getVersion", "lendDemoKey", "stopDemoChat", "streamTranscription"].map(
      (operationId) => [`${operationId} 500`, "Nothing that is known makes this operation fail."],
    ),
  ),
  ...Object.fromEntries(
    ["getHealth", "getMetrics", "getVersion", "lendDemoKey", "stopDemoChat"].map((operationId) => [
      `${operationId} 503`,
      "A server that stops closes its connections first.",
    ]),
  ),
};
const CODES_OUT_OF_REACH = ["not_implemented", "storage_full"];

test("every reply that an operation declares is in the pact, and every reply in the pact is declared", () => {
  const asked = new Set(readReplies(LOCAL_STT).map(({ method, path, status }) => `${method} ${path} ${status}`));
  const declared = declaredReplies("local-stt/openapi.yaml");
  expect(new Set(declared.map(({ operationId }) => operationId)).size).toBe(10);
  const missing = declared.filter(({ method, path, status }) => !asked.has(`${method} ${path} ${status}`));
  const reasonOf = ({ operationId, status }: { operationId: string; status: number }): string | undefined =>
    OUT_OF_REACH[status] ?? OUT_OF_REACH[`${operationId} ${status}`];
  expect(missing.filter((reply) => reasonOf(reply) === undefined)).toEqual([]);
  const known = new Set(declared.map(({ method, path, status }) => `${method} ${path} ${status}`));
  const places = new Set(declared.map(({ method, path }) => `${method} ${path}`));
  expect([...asked].filter((reply) => places.has(reply.replace(/ \d+$/, "")) && !known.has(reply))).toEqual([]);
});

test("every code of the catalogue is in a pact", () => {
  verifies("stt.errors.http-shape", "stt.errors.stream-shape");
  const codes = new Set([...errorCodes(LOCAL_STT), ...streamCodes(LOCAL_STT_STREAM)]);
  expect(declaredCodes("SttErrorCode").filter((code) => !codes.has(code))).toEqual(CODES_OUT_OF_REACH);
  const cloudCodes = new Set([...errorCodes(CLOUD_STT), ...streamCodes(CLOUD_STT_STREAM)]);
  expect(declaredCodes("CloudErrorMessage").filter((code) => !cloudCodes.has(code))).toEqual([]);
});

test.each(Object.entries(TRANSPORTS))("every message over %s is in the pact", (transport, state) => {
  const exchanges = readExchanges(LOCAL_STT_STREAM).filter(({ given }) => given.includes(state));
  const declared = declaredMessages("local-stt/stream.yaml").filter(
    ({ channel }) => channel === transport.toLowerCase(),
  );
  expect(declared).toHaveLength(9);
  expect(missingFrom(exchanges, declared)).toEqual([]);
});

test("every message of the cloud stream is in the pact", () => {
  const declared = declaredMessages("cloud-stt/stream.yaml");
  expect(declared).toHaveLength(5);
  expect(missingFrom(readExchanges(CLOUD_STT_STREAM), declared)).toEqual([]);
});

test.each([
  { parties: LOCAL_STT_STREAM, isClients: validateSttClientMessage, isServers: validateSttServerMessage },
  { parties: CLOUD_STT_STREAM, isClients: validateCloudClientMessage, isServers: validateCloudServerMessage },
])("the messages in the pact with $parties.provider are those of the schemas", ({ parties, isClients, isServers }) => {
  verifies("contract.outgoing.valid-against-schemas");
  for (const { name, says, hears } of readExchanges(parties)) {
    for (const message of hears) expect([name, message, isServers(message)]).toEqual([name, message, true]);
    const isRefused = hears.some((message) => Object(message).code === "invalid_message");
    if (says !== null) expect([name, isClients(says) || isRefused]).toEqual([name, true]);
  }
});

function missingFrom(exchanges: readonly WrittenExchange[], declared: ReturnType<typeof declaredMessages>): unknown[] {
  const said = new Set(exchanges.map(({ says }) => Object(says).type));
  const heard = new Set(exchanges.flatMap(({ hears }) => hears.map((message) => Object(message).type)));
  return declared.filter(({ type, sender }) => !(sender === "client" ? said : heard).has(type));
}

interface Reply {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly code: unknown;
}

function readReplies(parties: Parties): Reply[] {
  return readInteractions(pactFile(parties.provider)).map((interaction) => {
    const { request, response } = Object(interaction);
    const code: unknown = response.body?.content?.error?.code;
    return { method: request.method, path: request.path, status: response.status, code };
  });
}

function errorCodes(parties: Parties): unknown[] {
  return readReplies(parties).map(({ code }) => code);
}

function streamCodes(parties: Parties): unknown[] {
  return readExchanges(parties).flatMap(({ hears }) => hears.map((message) => Object(message).code));
}
