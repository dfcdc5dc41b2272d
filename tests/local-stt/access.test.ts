import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { silentLogger } from "@antiphon/base/logger.ts";
import { type EngineStatus, type SpeechEngine, SpeechError } from "@antiphon/speech/recognition/speech-engine.ts";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { loadConfig } from "../../src/config/load-config.ts";
import { hearingWith } from "../../src/servers/choices/choose-speech.ts";
import { startLocalStt } from "../../src/servers/local-stt.ts";
import { formOf, namedFile } from "../kit/upload.ts";
import { startLocalSttServer } from "../local-stt-server.ts";
import { verifies } from "../verifies.ts";

async function startServer(env: Readonly<Record<string, string>> = {}) {
  const server = await startLocalSttServer({ env: { FIND_LOCAL_DAEMON: "false", ...env } });
  onTestFinished(() => server.close());
  return server;
}

interface Answer {
  readonly status: number;
  readonly code: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
}

async function get(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  method = "GET",
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const call = request({ hostname: hostname.replace(/^\[|\]$/g, ""), port, path, method, headers });
  call.end();
  const [reply] = await once(call, "response");
  let text = "";
  for await (const piece of reply) text += String(piece);
  const isJson = reply.headers["content-type"] === "application/json";
  return { status: reply.statusCode, code: isJson ? JSON.parse(text).error?.code : null, headers: reply.headers };
}

async function upgradeStatus(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws/transcribe`, { headers });
  socket.on("error", () => {});
  const refused = once(socket, "unexpected-response").then(([, reply]) => Number(reply.statusCode));
  const opened = once(socket, "open").then(() => 101);
  opened.catch(() => {});
  const status = await Promise.race([refused, opened]);
  socket.terminate();
  return status;
}

test("a request for another host is refused on every path, with any method", async () => {
  verifies("stt.access.foreign-host-refused", "stt.errors.http-shape");
  const { url } = await startServer();
  const { port } = new URL(url);
  for (const host of [
    "evil.example",
    `evil.example:${port}`,
    "127.0.0.1.evil.example",
    "10.0.0.1",
    "localhost.evil",
    "[::2]",
    "127.0.0.1@evil",
  ])
    for (const [path, method] of [
      ["/healthz", "GET"],
      ["/", "GET"],
      ["/demo/chat", "POST"],
      ["/nowhere", "GET"],
    ] as const)
      expect(await get(url, path, { host }, method)).toMatchObject({ status: 403, code: "host_not_allowed" });
  for (const host of ["localhost", `127.0.0.1:${port}`, "[::1]", "LOCALHOST:1"])
    expect((await get(url, "/healthz", { host })).status).toBe(200);
  expect(await upgradeStatus(url, { host: "evil.example" })).toBe(403);
});

test("a web page of another origin is refused, and no reply lets an unlisted origin read it", async () => {
  verifies("stt.access.foreign-origin-refused");
  const { url } = await startServer({ STT_ALLOWED_ORIGINS: "https://app.example" });
  for (const origin of [
    "https://evil.example",
    "http://localhost.evil.example",
    "null",
    "https://app.example.evil",
    "file://",
  ]) {
    expect(await get(url, "/version", { origin })).toMatchObject({ status: 403, code: "origin_not_allowed" });
    expect(await get(url, "/transcribe", { origin }, "OPTIONS")).toMatchObject({ status: 403 });
    expect(await upgradeStatus(url, { origin })).toBe(403);
  }
  expect(await get(url, "/version", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" })).toMatchObject({
    status: 403,
  });
  expect((await get(url, "/", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" })).status).toBe(200);
  for (const origin of [url, "http://localhost:3000", "http://[::1]:1"]) {
    const { status, headers } = await get(url, "/version", { origin });
    expect(status).toBe(200);
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
});

test("a listed page may read its replies, also after a preflight, and no other page may", async () => {
  const { url } = await startServer({ STT_ALLOWED_ORIGINS: "https://app.example" });
  const [listed, local] = ["https://app.example", "http://localhost:3000"];
  const crossSite = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" };
  const allowed = { "access-control-allow-origin": listed, vary: "origin" };
  const reply = await get(url, "/version", { origin: listed, ...crossSite });
  expect(reply).toMatchObject({ status: 200, headers: allowed });
  const question = { "access-control-request-method": "POST", "access-control-request-headers": "content-type" };
  const answer = await get(url, "/format", { origin: listed, ...crossSite, ...question }, "OPTIONS");
  expect(answer).toMatchObject({
    status: 204,
    headers: { ...allowed, "access-control-allow-headers": "content-type" },
  });
  const ofThisMachine = await get(url, "/version", { origin: local });
  expect(ofThisMachine.status).toBe(200);
  expect(ofThisMachine.headers).not.toHaveProperty("access-control-allow-origin");
});

test("it listens on the loopback addresses only, and needs no key", async () => {
  verifies("stt.access.loopback-only");
  const { url } = await startServer({ HOST: "0.0.0.0" });
  const { port, hostname } = new URL(url);
  expect(hostname).toBe("127.0.0.1");
  expect((await get(url, "/healthz", {})).status).toBe(200);
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  if (all.some(({ address }) => address === "::1"))
    expect((await get(`http://[::1]:${port}`, "/healthz", {})).status).toBe(200);
  for (const { address } of all.filter(({ internal, family }) => !internal && family === "IPv4")) {
    const socket = connect({ host: address, port: Number(port) });
    const [error] = await once(socket, "error");
    expect(error.code).toBe("ECONNREFUSED");
  }
});

test("the metrics count, hold no text, and can be switched off", async () => {
  verifies("stt.metrics.shown");
  const { url } = await startServer();
  await get(url, "/version", {});
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toMatch(/^antiphon_http_requests_total\{operation="getVersion",status="200"\} 1$/m);
  expect(text).toMatch(/^antiphon_speech_streams_open 0$/m);
  const silent = await startServer({ METRICS: "off" });
  expect(await get(silent.url, "/metrics", {})).toMatchObject({ status: 404, code: "not_found" });
});

/** An engine that is not ready, and never will be. */
function unready(status: EngineStatus, refusal: SpeechError): SpeechEngine {
  return {
    name: "an engine that is not ready",
    status: () => status,
    watch: () => () => {},
    facts: () => ({ engine: "none", engineVersion: null, model: "base.en", modelPath: null, modelSha256: null }),
    restarts: () => 0,
    knowsLanguage: () => true,
    canTranslate: () => true,
    refusal: () => refusal,
    transcribe: () => Promise.reject(refusal),
  };
}

test("while the model loads, every operation that needs it answers 503 with the time to retry", async () => {
  verifies("stt.transcribe.not-ready-is-503", "stt.health.not-ok-while-loading");
  const config = loadConfig({ STT_PORT: "0", FIND_LOCAL_DAEMON: "false", DRAIN_MS: "100" }, []);
  const engine = unready(
    { state: "downloading", receivedBytes: 10, totalBytes: 100 },
    new SpeechError("loading", "The speech model is being downloaded"),
  );
  const server = await startLocalStt(config, silentLogger, hearingWith(engine, config));
  onTestFinished(() => server.close());
  const form = formOf({ audio: namedFile("RIFF", "a.wav") });
  const replies = [
    await fetch(`${server.url}/transcribe`, { method: "POST", body: form }),
    await fetch(`${server.url}/stt_and_format`, { method: "POST", body: form }),
    await fetch(`${server.url}/stream/transcribe`, {
      method: "POST",
      headers: { "content-type": "application/x-ndjson" },
      body: "{}",
    }),
  ];
  for (const reply of replies) {
    expect([reply.status, await reply.json()]).toMatchObject([503, { error: { code: "model_loading" } }]);
    expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect(await upgradeStatus(server.url, {})).toBe(503);
  expect(await (await fetch(`${server.url}/healthz`)).json()).toMatchObject({
    ok: false,
    speech: { state: "downloading", received_bytes: 10, total_bytes: 100 },
  });
});
