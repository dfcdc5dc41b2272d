import type { OperationId } from "@antiphon/contracts/local-stt/operations.ts";
import { describe, test } from "vitest";
import type { AntiphonSpeech } from "../../packages/client/src/index.ts";
import { silentFile } from "../../tests/speech/slow-sound.ts";
import { verifies } from "../../tests/verifies.ts";
import { asking, naming } from "./detours.fixture.ts";
import { audioPart, upload } from "./forms.fixture.ts";
import { checkRefusal, type Interaction } from "./interaction.fixture.ts";

const SILENCE = silentFile(50);
const FORM = { form: [audioPart(SILENCE)] };
const CHAT = { messages: [{ role: "user" as const, content: "hello" }] };

const NAME = "b1c7d0c2-5d0e-4a51-9f3e-2f6f0f3d6a11";

type Call = Pick<Interaction, "method" | "path" | "query" | "body"> & {
  readonly call: (client: AntiphonSpeech, headers: Readonly<Record<string, string>>) => Promise<unknown>;
};

/** A call for each operation. */
const CALLS: Readonly<Record<OperationId, Call>> = {
  getHealth: { method: "GET", path: "/healthz", call: (client, headers) => client.getHealth({ headers }) },
  getVersion: { method: "GET", path: "/version", call: (client, headers) => client.getVersion({ headers }) },
  getMetrics: { method: "GET", path: "/metrics", call: (client, headers) => client.getMetrics({ headers }) },
  format: {
    method: "POST",
    path: "/format",
    body: { json: { text: "hello" } },
    call: (client, headers) => client.format({ text: "hello" }, { headers }),
  },
  demoChat: {
    method: "POST",
    path: "/demo/chat",
    body: { json: CHAT },
    call: (client, headers) => client.demoChat(CHAT, { headers }),
  },
  stopDemoChat: {
    method: "DELETE",
    path: "/demo/chat",
    query: { answer_id: NAME },
    call: (client, headers) => client.stopDemoChat({ answer_id: NAME }, { headers }),
  },
  lendDemoKey: {
    method: "POST",
    path: "/demo/key",
    call: (client, headers) => client.lendDemoKey({ headers }),
  },
  transcribe: {
    method: "POST",
    path: "/transcribe",
    body: FORM,
    call: (client, headers) => client.transcribe({ audio: upload(SILENCE) }, { headers }),
  },
  transcribeAndFormat: {
    method: "POST",
    path: "/stt_and_format",
    body: FORM,
    call: (client, headers) => client.transcribeAndFormat({ audio: upload(SILENCE) }, { headers }),
  },
  streamTranscription: {
    method: "POST",
    path: "/stream/transcribe",
    body: { lines: [{ type: "end" }] },
    call: (client, headers) => client.streamTranscription(end(), {}, { headers }),
  },
};

async function* end() {
  yield { type: "end" as const };
}

describe.each(Object.entries(CALLS))("a web page from elsewhere that calls %s", (operationId, { call, ...sent }) => {
  test("is refused under its own origin", async () => {
    verifies("stt.access.foreign-origin-refused", "stt.errors.http-shape");
    const headers = { Origin: "https://evil.example" };
    await checkRefusal(
      { ...sent, given: "a speech server", request: `of another origin for ${operationId}`, headers },
      { status: 403, code: "origin_not_allowed" },
      (client) => call(client, headers),
    );
  });

  test("is refused under a name that leads to this machine", async () => {
    verifies("stt.access.foreign-host-refused", "stt.errors.http-shape");
    const headers = { Host: "evil.example" };
    await checkRefusal(
      { ...sent, given: "a speech server", request: `under another name for ${operationId}`, headers },
      { status: 403, code: "host_not_allowed" },
      (client) => call(client, {}),
      naming("evil.example"),
    );
  });
});

const NAMED_TOO_LONG = (["getHealth", "getMetrics", "getVersion", "lendDemoKey", "stopDemoChat"] as const).map(
  (operationId) => ({
    operationId,
    ...CALLS[operationId],
  }),
);

test.each(NAMED_TOO_LONG)(
  "$operationId with a name of its own that is too long is refused",
  async ({ operationId, call, ...sent }) => {
    verifies("stt.errors.http-shape");
    const headers = { "X-Client-Request-Id": "x".repeat(513) };
    await checkRefusal(
      { ...sent, given: "a speech server", request: `with a long name of its own for ${operationId}`, headers },
      { status: 400, code: "invalid_request" },
      (client) => call(client, headers),
    );
  },
);

test.each([
  { what: "a path that there is not", method: "GET", path: "/v1/models", status: 404, code: "not_found" },
  {
    what: "a recording that is only read",
    method: "GET",
    path: "/transcribe",
    status: 405,
    code: "method_not_allowed",
  },
  { what: "a health that is deleted", method: "DELETE", path: "/healthz", status: 405, code: "method_not_allowed" },
  { what: "a socket that is no upgrade", method: "GET", path: "/ws/transcribe", status: 426, code: "upgrade_required" },
])("a client that asks for $what gets $status", async ({ what, method, path, status, code }) => {
  verifies("stt.errors.http-shape", "stt.websocket.plain-request-is-426");
  const interaction = { given: "a speech server", request: `for ${what}`, method, path } as const;
  await checkRefusal(interaction, { status, code }, (client) => client.getHealth(), asking(method, path));
});
