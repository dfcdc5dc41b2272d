import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Logger, silentLogger } from "@antiphon/base/logger.ts";
import type { HostedTool } from "@antiphon/domain/hosted-tool.ts";
import type { FileTranscriber } from "@antiphon/speech/recognition/speech-engine.ts";
import { onTestFinished, TestRunner } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { readConfiguredKey } from "../../src/secrets/key-owners.ts";
import type { AudioHearing } from "../../src/servers/choices/choose-speech.ts";
import { startResponsesApi } from "../../src/servers/responses-api.ts";
import { forgetDatabase, storeSettings } from "./tested-store.ts";
import { withSealKeys } from "./with-seal-keys.ts";

export interface TestServer {
  /** Has no trailing slash and no `/v1`. */
  readonly url: string;
  readonly apiKey: string;
  readonly dataDir: string;
  /** Calls the server with its key and a JSON body. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown): Promise<Response>;
  /** Happens at the end of the test that started the server at the latest. */
  close(): Promise<void>;
}

export interface TestServerOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The text of a scenario file for the built-in engine. */
  readonly scenario?: string;
  readonly log?: Logger;
  /** Transcribes recordings. Left out: no engine. */
  readonly speech?: FileTranscriber;
  /** Hears recordings for the audio routes. Left out: no engine. */
  readonly heardBy?: AudioHearing;
  /** Tools beside those of the configuration; one takes the place of another that serves the same types. */
  readonly tools?: readonly HostedTool[];
}

/**
 * The whole server, built as `make start` builds it, on a free port with a data folder of its own. It ends with its
 * test. Who starts it for several tests, or in one of several that run at once, closes it.
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const dataDir = await mkdtemp(join(tmpdir(), "antiphon-test-"));
  const scenario = join(dataDir, "scenario.yaml");
  if (options.scenario !== undefined) await writeFile(scenario, options.scenario);
  const folder = options.env?.["DATA_DIR"] ?? join(dataDir, "data");
  const config = loadConfig(
    withSealKeys({
      DATA_DIR: folder,
      PORT: "0",
      CODE_ENGINE: "off",
      FIND_LOCAL_DAEMON: "false",
      DRAIN_MS: "1000",
      ...(await storeSettings(folder)),
      ...(options.scenario === undefined ? {} : { SCENARIO_FILE: scenario }),
      ...options.env,
    }),
    [],
  );
  const server = await startResponsesApi(
    config,
    options.log ?? { ...silentLogger, error: (fields, message) => console.error(message, fields) },
    {
      speech: options.speech ?? null,
      ...(options.heardBy === undefined ? {} : { heardBy: options.heardBy }),
      moreTools: options.tools ?? [],
    },
  );
  const apiKey = server.keys.firstKey ?? readConfiguredKey(config.apiKeys[0]?.reveal() ?? "").key;
  const call = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${server.url}${path}`, { ...init, headers: withKey(init.headers, apiKey) });
  const close = atEndOfTest(async () => {
    await server.close();
    if (folder.startsWith(dataDir)) await forgetDatabase(folder);
    await rm(dataDir, { recursive: true, force: true });
  });
  return {
    url: server.url,
    apiKey,
    dataDir: config.dataDir,
    fetch: call,
    post: (path, body) =>
      call(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    close,
  };
}

/** Does this once: when it is called, or when the test ends. */
function atEndOfTest(act: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  const once = (): Promise<void> => (done ??= act());
  const test = TestRunner.getCurrentTest();
  if (test !== undefined && test.concurrent !== true) onTestFinished(once);
  return once;
}

function withKey(headers: RequestInit["headers"], apiKey: string): Headers {
  const all = new Headers(headers);
  if (!all.has("authorization")) all.set("authorization", `Bearer ${apiKey}`);
  return all;
}
