import { MatchersV3 } from "@pact-foundation/pact";
import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { checkInteraction } from "./interaction.fixture.ts";
import { checkRefusal } from "./refusal.fixture.ts";

const { regex, string } = MatchersV3;
/** The reference has no probes. */
const given = ["a server with extensions"] as const;

/** Fetches a path outside `/v1`, which is the base URL of the official client. */
function fetchOf(client: OpenAI, path: string) {
  return client.get(new URL(path, client.baseURL).href);
}

describe("an operator", () => {
  test("sees that the server is alive, without a key", async () => {
    const health = { status: "ok", checks: {} };
    await checkAnswer(
      {
        given,
        request: "whether the server lives",
        method: "GET",
        path: "/healthz",
        wrongKey: null,
        reply: { json: health },
      },
      health,
      { official: (client) => fetchOf(client, "/healthz"), own: (client) => client.getHealth() },
    );
  });

  test("sees whether the server is ready, without a key", async () => {
    const readiness = { status: "ok", checks: { store: "ok", server: "ok", model: "unknown" } };
    const checks = { ...readiness.checks, model: regex("^(ok|unknown)$", "unknown") };
    await checkAnswer(
      {
        given,
        request: "whether the server is ready",
        method: "GET",
        path: "/readyz",
        wrongKey: null,
        reply: { json: { ...readiness, checks } },
      },
      readiness,
      { official: (client) => fetchOf(client, "/readyz"), own: (client) => client.getReadiness() },
    );
  });

  test("reads its metrics from the same machine", async () => {
    const example = "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1.5\n";
    const contentType = {
      example: "text/plain; version=0.0.4; charset=utf-8",
      pattern: "^text/plain; version=0.0.4.*$",
    };
    const pattern = "^((# (HELP|TYPE) .+|[a-z_]+(\\{.*\\})? \\S+)\\n)+$";
    await checkInteraction(
      {
        given,
        request: "for metrics",
        method: "GET",
        path: "/metrics",
        wrongKey: null,
        reply: { text: { example, pattern, contentType } },
      },
      {
        official: async (client) => expect(await fetchOf(client, "/metrics")).toBe(example),
        own: async (client) => expect(await client.getMetrics()).toBe(example),
      },
    );
  });

  test("cannot read the metrics through a proxy", async () => {
    verifies("contract.parity.same-checks-both-providers");
    const headers = { "x-forwarded-for": "203.0.113.7" };
    await checkRefusal(
      { given, request: "for metrics through a proxy", method: "GET", path: "/metrics", wrongKey: null, headers },
      { status: 403, code: "metrics_not_shown", param: null, message: string("Metrics are shown on this machine.") },
      {
        official: (client) => client.get(new URL("/metrics", client.baseURL).href, { headers }),
        own: (client) => client.getMetrics({ headers }),
      },
    );
  });
});
