import { localSttRoutes } from "@antiphon/contracts/local-stt/operations.ts";
import { responsesApiRoutes } from "@antiphon/contracts/responses-api/operations.ts";
import { createDisabledEngine } from "@antiphon/speech/recognition/disabled-engine.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { API_KEY, openCloudServer } from "../cloud-stt/cloud-server.ts";
import { startTestServer } from "../kit/test-server.ts";
import { startLocalSttServer } from "../local-stt-server.ts";
import { verifies } from "../verifies.ts";

interface Served {
  readonly url: string;
  close(): Promise<void>;
}

interface Path {
  readonly path: string;
  readonly methods: readonly string[];
}

/** The methods that `fetch` can send. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"];
const READ = ["GET", "HEAD"];

function pathsOf(routes: readonly { readonly path: string; readonly method: string }[]): Path[] {
  const byPath = Map.groupBy(routes, ({ path }) => path.replaceAll(/:\w+/g, "x1"));
  return [...byPath].map(([path, those]) => ({
    path,
    methods: those.flatMap(({ method }) => (method === "get" ? READ : [method.toUpperCase()])),
  }));
}

const INTERFACES: readonly {
  readonly what: string;
  readonly start: () => Promise<Served>;
  readonly paths: readonly Path[];
}[] = [
  {
    what: "the Responses API",
    start: () => startTestServer(),
    paths: [...pathsOf(responsesApiRoutes), { path: "/docs", methods: READ }, { path: "/openapi.json", methods: READ }],
  },
  {
    what: "the speech server",
    start: () => startLocalSttServer(),
    paths: [...pathsOf(localSttRoutes), { path: "/ws/transcribe", methods: ["GET"] }, { path: "/", methods: READ }],
  },
  {
    what: "the cloud stream",
    start: () => openCloudServer({ speech: createDisabledEngine("") }),
    paths: [
      { path: "/stt/v1/stream", methods: READ },
      { path: "/healthz", methods: READ },
    ],
  },
];

describe.each(INTERFACES)("$what", ({ start, paths }) => {
  let server: Served;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());

  test.each(paths)("answers every method on $path except $methods with 405 and the allowed methods", async (known) => {
    verifies("http.methods.wrong-one-is-405", "http.headers.no-sniffing");
    const allow = [...new Set([...known.methods, "OPTIONS"])].toSorted().join(", ");
    for (const method of METHODS.filter((one) => !known.methods.includes(one))) {
      const { status, headers } = await fetch(server.url + known.path, { method });
      expect([method, status, headers.get("allow")]).toEqual([method, method === "OPTIONS" ? 204 : 405, allow]);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
    for (const method of known.methods) {
      const reply = await fetch(server.url + known.path, { method, headers: { "x-api-key": API_KEY } });
      expect(reply.status, method).not.toBe(405);
      expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
      await reply.body?.cancel();
    }
  });
});
