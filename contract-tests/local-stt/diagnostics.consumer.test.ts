import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkInteraction, checkRefusal } from "./interaction.fixture.ts";
import type { State } from "./provider-states.fixture.ts";

const { integer, regex, string } = MatchersV3;

const NO_FORMATTER = { enabled: false, provider: null, model: null, detail: string("No provider is set up.") };
const NO_BYTES = { received_bytes: null, total_bytes: null };
const METRICS = `# HELP antiphon_speech_streams_open Streams that are open now.
# TYPE antiphon_speech_streams_open gauge
antiphon_speech_streams_open 0
`;

/** The specification only names these endpoints; the bodies are our own. */
describe("a client of the speech server", () => {
  test.each<readonly [state: State, speech: object]>([
    ["an engine that is being built", { state: "building", detail: string("The speech engine is being built.") }],
    ["a speech model that is being loaded", { state: "loading", detail: string("The speech model is being loaded.") }],
    ["a speech server", { state: "failed", model: null, detail: string("There is no speech engine.") }],
    [
      "a speech model that is being downloaded",
      {
        state: "downloading",
        detail: string("The speech model is being downloaded."),
        received_bytes: integer(1_048_576),
        total_bytes: integer(147_951_465),
      },
    ],
  ])("learns that nothing can be transcribed, given %s", async (given, speech) => {
    verifies("stt.health.not-ok-while-loading", "stt.model.downloads-shown");
    const members = { model: string("base.en"), ...NO_BYTES, restarts: integer(0), ...speech };
    await checkInteraction(
      {
        given,
        request: `for the health, with ${given}`,
        method: "GET",
        path: "/healthz",
        reply: { json: { ok: false, speech: members, formatting: NO_FORMATTER } },
      },
      async (client) => {
        const { ok, speech: seen } = await client.getHealth();
        expect([ok, seen.state]).toEqual([false, Object(speech).state]);
      },
    );
  });

  test("learns that speech can be transcribed, and who formats it", async () => {
    verifies("stt.health.reports-ok", "stt.health.tells-model-and-formatter");
    const speech = { state: "ready", model: string("base.en"), detail: null, ...NO_BYTES, restarts: integer(0) };
    const formatting = {
      enabled: true,
      provider: regex("^[^/@]+:[0-9]+$", "127.0.0.1:11434"),
      model: string("writer"),
      detail: null,
    };
    await checkInteraction(
      {
        given: "a model that hears tones, and a formatter",
        request: "for the health, with a model and a formatter",
        method: "GET",
        path: "/healthz",
        reply: { json: { ok: true, speech, formatting } },
      },
      async (client) =>
        expect(await client.getHealth()).toMatchObject({
          ok: true,
          speech: { state: "ready" },
          formatting: { enabled: true, model: "writer" },
        }),
    );
  });

  test("learns what was built, where the model lies, and who formats", async () => {
    verifies("stt.version.build-metadata");
    await checkInteraction(
      {
        given: "a model that hears tones, and a formatter",
        request: "for the version, with a model and a formatter",
        method: "GET",
        path: "/version",
        reply: {
          json: {
            ...BUILD,
            engine: { name: string("whisper.cpp") },
            model_paths: { speech: regex("^.*[.]bin$", "/home/user/.cache/antiphon/models/ggml-base.en.bin") },
            speech_model: { name: string("base.en") },
            formatting_tier: { status: "ready", model: string("writer") },
            ai: { formatting: true, demo_chat: true },
          },
        },
      },
      async (client) => {
        const version = await client.getVersion();
        expect(version).toMatchObject({ name: "antiphon", protocol: "stt-jsonl-v1", ai: { formatting: true } });
      },
    );
  });

  test.each<readonly [state: State, status: string]>([
    ["a speech server", "no_key"],
    ["formatting that is switched off", "off"],
  ])("learns what is left out, given %s", async (given, status) => {
    verifies("stt.version.build-metadata");
    await checkInteraction(
      {
        given,
        request: `for the version, with ${given}`,
        method: "GET",
        path: "/version",
        reply: {
          json: {
            ...BUILD,
            engine: { name: string("none"), version: null },
            model_paths: { speech: null },
            speech_model: { name: null, sha256: null },
            formatting_tier: { status, model: null },
            ai: { formatting: false, demo_chat: false },
          },
        },
      },
      async (client) => expect(await client.getVersion()).toMatchObject({ formatting_tier: { status, model: null } }),
    );
  });

  test("reads the counters", async () => {
    verifies("stt.metrics.shown");
    await checkInteraction(
      {
        given: "a speech server",
        request: "for the metrics",
        method: "GET",
        path: "/metrics",
        reply: {
          text: METRICS,
          pattern: "^(# (HELP|TYPE) [^\\n]+\\n|[a-z_]+(\\{[^\\n]*\\})? [0-9.e+-]+\\n|\\n)+$",
          type: "text/plain",
        },
      },
      async (client) => expect(await client.getMetrics()).toContain("antiphon_speech_streams_open 0"),
    );
  });

  test("finds no counters where they are switched off", async () => {
    verifies("stt.metrics.shown", "stt.errors.http-shape");
    await checkRefusal(
      { given: "metrics that are switched off", request: "for metrics that are off", method: "GET", path: "/metrics" },
      { status: 404, code: "not_found" },
      (client) => client.getMetrics(),
    );
  });
});

const BUILD = { name: "antiphon", version: regex("^[0-9]+\\.[0-9]+\\.[0-9]+.*$", "0.2.0"), protocol: "stt-jsonl-v1" };
