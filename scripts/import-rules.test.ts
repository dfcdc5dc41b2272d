import { describe, expect, test } from "vitest";
import { findImportFaults, type Workspace } from "./find-import-faults.ts";
import { readModule } from "./import-graph.ts";
import { IMPORT_RULES } from "./import-rules.ts";

type Sources = Readonly<Record<string, string>>;

/** Imports all samples, so that each sample breaks only its own rule. */
const ROOT = "src/main.ts";

const WORKSPACE: Workspace = { folder: "packages/tool-kit", dependencies: ["@antiphon/base"], devDependencies: [] };

function faultsOf(sources: Sources): string[] {
  const paths = Object.keys(sources);
  const roots = paths
    .filter((path) => /^(src|packages)\//.test(path) && path !== ROOT)
    .map((path) => `import "../${path}";`);
  const files = { [ROOT]: roots.join("\n"), ...sources };
  const modules = Object.entries(files).map(([path, code]) => readModule({ path, code }));
  return findImportFaults({
    modules,
    dependencies: [
      "@modelcontextprotocol/client",
      "@modelcontextprotocol/server",
      "aws4fetch",
      "expr-eval-fork",
      "gpt-tokenizer",
      "ipaddr.js",
      "koa",
      "kysely",
      "pg",
      "lru-cache",
      "pino",
      "pyodide",
      "rate-limiter-flexible",
      "opus-decoder",
      "undici",
      "unpdf",
    ],
    workspaces: [WORKSPACE],
  })
    .filter(({ what }) => !what.startsWith(`${ROOT}:`))
    .map(({ rule }) => rule);
}

/** A sample that breaks each rule. */
const BROKEN: Readonly<Record<string, Sources>> = {
  "no-cycles": { "src/runs/a.ts": 'import "./b.ts";', "src/runs/b.ts": 'import type { A } from "./a.ts";' },
  "no-knots": {
    "src/runs/one/a.ts": 'import "../two/b.ts";',
    "src/runs/two/b.ts": "",
    "src/runs/two/c.ts": 'import "../one/d.ts";',
    "src/runs/one/d.ts": "",
  },
  "no-dead-files": { "src/main.ts": "", "src/runs/forgotten.ts": "" },
  "no-dead-fixtures": { "src/runs/run.fixture.ts": "", "src/runs/other.test.ts": "" },
  "no-import-of-tests": { "src/runs/a.test.ts": "", "src/runs/b.test.ts": 'import { run } from "./a.test.ts";' },
  "fixtures-serve-tests": {
    "src/runs/a.ts": 'import "./b.fixture.ts";',
    "src/runs/b.fixture.ts": "",
    "src/runs/a.test.ts": 'import "./b.fixture.ts";',
  },
  "packages-know-no-server": { "packages/tool-kit/src/a.ts": 'import "../../../src/runs/a.ts";', "src/runs/a.ts": "" },
  "packages-declare-what-they-import": {
    "packages/tool-kit/src/a.ts": 'import "@antiphon/other/b.ts"; import "@antiphon/base/ids.ts";',
    "packages/tool-kit/src/a.test.ts": 'import "undici"; import "./a.ts";',
    "packages/other/src/b.ts": "",
    "packages/base/src/ids.ts": "",
  },
  "base-is-a-leaf": { "packages/base/src/ids.ts": 'import "@antiphon/egress/a.ts";', "packages/egress/src/a.ts": "" },
  "http-kit-knows-no-product": {
    "packages/http-kit/src/a.ts": 'import "@antiphon/speech/local-stt/a.ts";',
    "packages/speech/src/local-stt/a.ts": "",
  },
  "programs-is-a-leaf": {
    "packages/programs/src/a.ts": 'import "@antiphon/speech/a.ts";',
    "packages/speech/src/a.ts": "",
  },
  "tokenizers-are-a-leaf": {
    "packages/tokenizers/src/a.ts": 'import "@antiphon/domain/a.ts";',
    "packages/domain/src/a.ts": "",
  },
  "stream-grammar-is-a-leaf": {
    "packages/stream-grammar/src/a.ts": 'import "@antiphon/domain/a.ts";',
    "packages/domain/src/a.ts": "",
  },
  "egress-is-a-leaf": { "packages/egress/src/a.ts": 'import "@antiphon/media/a.ts";', "packages/media/src/a.ts": "" },
  "domain-names-what-is-stored": {
    "packages/domain/src/a.ts": 'import "@antiphon/media/a.ts";',
    "packages/media/src/a.ts": "",
  },
  "built-in-model-implements-its-port": {
    "packages/built-in-model/src/a.ts": 'import "@antiphon/domain/files.ts";',
    "packages/domain/src/files.ts": "",
  },
  "sandbox-sees-ports": {
    "packages/sandbox/src/a.ts": 'import "@antiphon/media/a.ts";',
    "packages/media/src/a.ts": "",
  },
  "media-implements-ports": {
    "packages/media/src/a.ts": 'import "@antiphon/sandbox/a.ts";',
    "packages/sandbox/src/a.ts": "",
  },
  "audio-is-a-leaf": {
    "packages/speech/src/audio/a.ts": 'import "../voices/a.ts";',
    "packages/speech/src/voices/a.ts": "",
  },
  "audio-formats-see-sound": {
    "packages/speech/src/audio-formats/a.ts": 'import "../recognition/a.ts";',
    "packages/speech/src/recognition/a.ts": "",
  },
  "speech-sees-sound": {
    "packages/speech/src/recognition/a.ts": 'import "@antiphon/egress/a.ts";',
    "packages/egress/src/a.ts": "",
  },
  "formatting-is-a-leaf": {
    "packages/speech/src/formatting/a.ts": 'import "../recognition/a.ts";',
    "packages/speech/src/recognition/a.ts": "",
  },
  "voices-implement-ports": {
    "packages/speech/src/voices/a.ts": 'import "../recognition/a.ts";',
    "packages/speech/src/recognition/a.ts": "",
  },
  "local-stt-through-front-doors": {
    "packages/speech/src/local-stt/a.ts": 'import type { A } from "@antiphon/contracts/responses-api/types.ts";',
    "generated/responses-api/types.ts": "",
  },
  "audio-api-through-front-doors": {
    "packages/speech/src/audio-api/a.ts": 'import "../local-stt/a.ts";',
    "packages/speech/src/local-stt/a.ts": "",
  },
  "realtime-stands-on-audio-api": {
    "packages/speech/src/realtime/a.ts": 'import "../voices/a.ts";',
    "packages/speech/src/voices/a.ts": "",
  },
  "cloud-stt-stands-on-local-stt": {
    "packages/speech/src/cloud-stt/a.ts": 'import "../recognition/a.ts";',
    "packages/speech/src/recognition/a.ts": "",
  },
  "client-stands-alone": {
    "packages/client/src/index.ts": 'import "@antiphon/base/ids.ts";',
    "packages/base/src/ids.ts": "",
  },
  "config-is-a-leaf": { "src/config/a.ts": 'import "@antiphon/http-kit/a.ts";', "packages/http-kit/src/a.ts": "" },
  "runs-know-no-outside": { "src/runs/a.ts": 'export * from "../store/a.ts";', "src/store/a.ts": "" },
  "engines-implement-ports": {
    "src/model-engines/a/b.ts": 'import { foldEvents } from "../../runs/index.ts";',
    "src/runs/index.ts": "",
  },
  "embedded-model-implements-its-port": {
    "src/embedded-model/a.ts": 'import "../model-engines/routing/route-table.ts";',
    "src/model-engines/routing/route-table.ts": "",
  },
  "native-code-in-its-child": {
    "src/commands/a.ts": 'import "../embedded-model/child/load-model.ts";',
    "src/embedded-model/child/load-model.ts": "",
  },
  "store-implements-ports": {
    "src/store/a.ts": 'import "../responses-api/errors.ts";',
    "src/responses-api/errors.ts": "",
  },
  "object-storage-implements-ports": {
    "src/object-storage/a.ts": 'import "../store/open-store.ts";',
    "src/store/open-store.ts": "",
  },
  "bus-sees-ports": { "src/bus/a.ts": 'import "../store/open-store.ts";', "src/store/open-store.ts": "" },
  "vector-stores-see-ports": {
    "src/vector-stores/a.ts": 'import "../store/a.ts";',
    "src/store/a.ts": "",
  },
  "responses-api-through-front-doors": {
    "src/responses-api/a.ts": 'let state: import("../runs/run-state.ts").RunState;',
    "src/runs/run-state.ts": "",
  },
  "batches-see-ports": {
    "src/batches/a.ts": 'import "../store/open-store.ts";',
    "src/store/open-store.ts": "",
  },
  "webhooks-see-ports": {
    "src/webhooks/a.ts": 'import "../store/open-store.ts";',
    "src/store/open-store.ts": "",
  },
  "rate-limits-implement-ports": {
    "src/rate-limits/a.ts": 'import "../responses-api/admission.ts";',
    "src/responses-api/admission.ts": "",
  },
  "processes-pass-counts-on": { "src/processes/a.ts": 'import "../runs/ports.ts";', "src/runs/ports.ts": "" },
  "telemetry-watches-ports": {
    "src/telemetry/a.ts": 'import "@antiphon/http-kit/server.ts";',
    "packages/http-kit/src/server.ts": "",
  },
  "tools-implement-their-port": { "src/tools/a.ts": 'import "../store/a.ts";', "src/store/a.ts": "" },
  "secrets-see-ports": { "src/secrets/a.ts": 'import "../store/open-store.ts";', "src/store/open-store.ts": "" },
  "version-is-a-leaf": { "src/version/a.ts": 'import "../runs/index.ts";', "src/runs/index.ts": "" },
  "page-stands-on-the-client": {
    "web/chat-lab/a.ts": 'import type { Config } from "../../src/config/load-config.ts";',
    "src/config/load-config.ts": "",
  },
  "inspector-stands-on-the-client": {
    "web/inspector/a.ts": 'import { b } from "../../src/runs/b.ts";',
    "src/runs/b.ts": "export const b = 1;",
  },
  "page-needs-no-packages": { "web/chat-lab/a.ts": 'import "koa";' },
  "inspector-needs-react": { "web/inspector/a.ts": 'import "koa";' },
  "page-speaks-through-the-client": { "web/chat-lab/a.ts": 'const socket = new WebSocket("ws://127.0.0.1");' },
  "page-is-a-leaf": { "tests/a.test.ts": 'import "../web/chat-lab/a.ts";', "web/chat-lab/a.ts": "" },
  "generated-stands-alone": {
    "generated/local-stt/a.ts": 'import "@antiphon/base/ids.ts";',
    "packages/base/src/ids.ts": "",
  },
  "interfaces-do-not-mix": {
    "generated/local-stt/types.ts": 'export type { A } from "../responses-api/types.ts";',
    "generated/responses-api/types.ts": "",
  },
  "servers-are-the-top": {
    "scripts/a.test.ts": "",
    "src/things/a.ts": 'import "../servers/b.ts";',
    "src/servers/b.ts": "",
  },
  "main-is-the-top": { "scripts/a.ts": 'import "../src/main.ts";' },
  "commands-are-above-servers": {
    "src/servers/a.ts": 'import "../commands/b.ts";',
    "src/commands/b.ts": "",
  },
  "config-reaches-code-as-options": { "src/things/a.ts": 'import "../config/load.ts";', "src/config/load.ts": "" },
  "codegen-stands-alone": { "scripts/codegen/a.ts": 'import "@antiphon/base/ids.ts";', "packages/base/src/ids.ts": "" },
  "chat-page-is-a-strangers": {
    "contract-tests/renderer/page/a.tsx": 'import { b } from "../b.ts"; export const a = <p>{b}</p>;',
    "contract-tests/renderer/b.ts": "",
  },
  "contract-tests-use-the-wire": { "contract-tests/a.ts": 'import "../src/store/a.ts";', "src/store/a.ts": "" },
  "web-framework-in-http-kit": { "src/servers/a.ts": 'import type { Server } from "http";' },
  "counting-libraries-in-tokenizers": {
    "src/servers/a.ts": 'const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");',
  },
  "database-in-store": { "src/servers/a.ts": 'import { sql } from "kysely";' },
  "postgres-in-store": { "src/servers/a.ts": 'import { Client } from "pg";' },
  "upstream-http-in-engines": { "src/servers/a.ts": 'const undici = await import("undici");' },
  "signatures-in-object-storage": { "src/store/a.ts": 'import "aws4fetch";' },
  "pdf-parser-in-media": { "src/servers/a.ts": 'import { getDocumentProxy } from "unpdf";' },
  "decoders-in-audio-formats": { "src/servers/a.ts": 'const { OpusDecoder } = await import("opus-decoder");' },
  "rate-limiter-in-rate-limits": { "src/servers/a.ts": 'import { RateLimiterMemory } from "rate-limiter-flexible";' },
  "address-library-in-egress": { "src/servers/a.ts": 'import ipaddr from "ipaddr.js";' },
  "arithmetic-in-built-in-model": { "src/tools/a.ts": 'import { Parser } from "expr-eval-fork";' },
  "caches-where-things-are-looked-up": { "src/servers/a.ts": 'import { LRUCache } from "lru-cache";' },
  "mcp-client-in-its-tool": { "src/servers/a.ts": 'import { Client } from "@modelcontextprotocol/client";' },
  "mcp-server-in-its-folder": { "src/tools/mcp/a.ts": 'import { McpServer } from "@modelcontextprotocol/server";' },
  "pyodide-in-its-engine": { "packages/sandbox/src/sessions/a.ts": 'import { loadPyodide } from "pyodide";' },
  "telemetry-libraries-in-telemetry": { "src/servers/a.ts": 'import pino from "pino";' },
  "programs-where-they-are-bounded": { "src/servers/a.ts": 'import { spawn } from "node:child_process";' },
  "cluster-in-processes": { "src/servers/a.ts": 'import cluster from "node:cluster";' },
  "environment-in-config": { "src/servers/a.ts": "const { env } = process;" },
  "environment-by-no-back-door": { "src/servers/a.ts": 'import { env } from "node:process";' },
  "runs-do-no-io": { "src/runs/a.ts": 'import { readFile } from "node:fs/promises";' },
  "runs-decide-without-clock-or-die": { "src/runs/transition.ts": "const now = Date.now();" },
  "runs-decide-without-imported-clock-or-die": {
    "src/runs/fold/fold-events.ts": 'import { setTimeout } from "node:timers/promises";',
  },
  "declared-dependencies-only": { "src/servers/a.ts": 'import express from "express/lib/router.js";' },
};

test("there is a sample for every rule", () => {
  expect(Object.keys(BROKEN)).toEqual(IMPORT_RULES.map(({ name }) => name));
});

test.each(Object.entries(BROKEN))("%s fires, and no other rule does", (rule, sources) => {
  expect(faultsOf(sources)).toEqual([rule]);
});

describe("no rule fires", () => {
  const allowed: Readonly<Record<string, Sources>> = {
    "when folders keep to their front doors": {
      "packages/base/src/ids.ts": "",
      "src/runs/ports/a.ts":
        'import type { A } from "@antiphon/contracts/responses-api/types.ts"; import "@antiphon/base/ids.ts";',
      "packages/tool-kit/src/a.ts": 'import "@antiphon/base/ids.ts"; import "./b.ts";',
      "packages/tool-kit/src/b.ts": 'import { readFile } from "node:fs/promises";',
      "src/runs/index.ts": 'export * from "./ports/a.ts";',
      "packages/domain/src/a.ts": "",
      "src/responses-api/create.ts": 'import { b } from "../runs/index.ts";',
      "src/store/a.ts":
        'import type { B } from "../runs/ports/a.ts"; import "@antiphon/domain/a.ts"; import { Kysely } from "kysely";',
      "src/servers/a.ts": 'import "../config/load.ts"; import "../store/a.ts";',
      "src/config/load.ts": "export const port = process.env.PORT;",
      "packages/http-kit/src/a.ts": 'import Koa from "koa"; import { createServer } from "node:http";',
      "generated/responses-api/types.ts": "",
    },
    "on what tests do to reach what they test": {
      "src/runs/a.test.ts":
        'import "../store/b.ts"; import "./c.fixture.ts"; import { test } from "vitest"; Date.now();',
      "src/store/b.ts": "",
      "src/runs/c.fixture.ts": 'import { createServer } from "node:http"; import "../store/b.ts";',
      "tests/whole.test.ts": 'import "../src/servers/a.ts";',
      "src/servers/a.ts": "",
    },
    "on types of packages that are not shipped": { "src/servers/a.ts": 'import type { A } from "express";' },
    "on words in strings and comments": {
      "src/runs/transition.ts": '// Date.now() is not for us.\nconst text = "process.env";',
    },
  };
  test.each(Object.entries(allowed))("%s", (_, sources) => expect(faultsOf(sources)).toEqual([]));
});

test("a process that a test starts is reached through its URL", () => {
  const sources = {
    "src/store/writer.fixture.ts": "",
    "src/store/crash.test.ts": 'const WRITER = new URL("writer.fixture.ts", import.meta.url);',
  };
  expect(faultsOf(sources)).toEqual([]);
});

test("a workspace names the packages that it is shipped with, and not those of its tests", () => {
  const code = 'import "undici"; import type { Context } from "koa";';
  const modules = ["a.ts", "a.test.ts"].map((name) => readModule({ path: `packages/tool-kit/src/${name}`, code }));
  const faults = findImportFaults({ modules, dependencies: ["undici"], workspaces: [WORKSPACE] });
  expect(faults.filter(({ rule }) => rule === "packages-declare-what-they-import").map(({ what }) => what)).toEqual([
    "packages/tool-kit/src/a.ts:1 imports npm:undici",
  ]);
});

test("a fault names its file, line and import", () => {
  const module = readModule({ path: "packages/base/src/a.ts", code: '// One.\nimport "@antiphon/egress/b.ts";' });
  const [fault] = findImportFaults({ modules: [module], dependencies: [], workspaces: [] }).filter(
    ({ rule }) => rule === "base-is-a-leaf",
  );
  expect(fault?.what).toBe("packages/base/src/a.ts:2 imports packages/egress/src/b.ts");
});
