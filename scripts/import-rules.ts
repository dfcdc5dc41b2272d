import { folder, type ImportRule, never, outside, product } from "./import-rule.ts";
import { LIBRARY_RULES } from "./library-rules.ts";
import {
  DOMAIN,
  EGRESS,
  GENERATED_A,
  MEDIA,
  MODELS,
  PACKAGE_RULES,
  PROGRAMS,
  SPEECH,
  TOKENIZERS,
} from "./package-rules.ts";

const PRODUCT = product("(src|packages)/");
const DECIDING = product("src/runs/(transition|fold/|blocks/|run-state|run-end|wire-event)");
const ANY = /^/;
/** What runs/ offers to others: its ports, and the forms of what they carry. */
const RUN_PORTS = "src/runs/(ports/|(recorded-event|reading/neighbours)[.]ts$)";
const RUN_FACE = "src/runs/index[.]ts$";

export const IMPORT_RULES: readonly ImportRule[] = [
  {
    name: "no-cycles",
    sentence: "Two modules that need each other are one module, or hide a third.",
    kind: "has-no-cycles",
  },
  {
    name: "no-knots",
    sentence: "Folders of one level that import each other in a circle are one folder, or hide one below them.",
    kind: "has-no-knots",
    roots: ["src", "packages"],
  },
  {
    name: "no-dead-files",
    sentence:
      "Neither the server nor the client reaches this file. Delete it, wire it in, or name it .fixture.ts if it serves tests.",
    kind: "is-reached",
    what: product("(src|packages)/(?!.*[.]d[.]ts$)"),
    roots: /^(src\/main|packages\/client\/src\/(chat\/)?index)[.]ts$/,
  },
  {
    name: "no-dead-fixtures",
    sentence: "No test reaches this fixture. Delete it.",
    kind: "is-reached",
    what: /[.]fixture[.]ts$/,
    roots: /[.]test[.]ts$/,
  },
  never("no-import-of-tests", "Move what you need into a fixture.", ANY, /[.]test[.]ts$/),
  never("fixtures-serve-tests", "The product does not stand on what was made for tests.", PRODUCT, /[.]fixture[.]ts$/),

  ...PACKAGE_RULES,
  folder("config-is-a-leaf", "config/ turns the environment into data.", "src/config", []),
  folder("runs-know-no-outside", "runs/ names what it needs in ports.ts; others supply it.", "src/runs", [
    MODELS,
    "packages/domain/src/faces[.]ts$",
    GENERATED_A,
  ]),
  folder("engines-implement-ports", "model-engines/ sees only its port.", "src/model-engines", [
    MODELS,
    TOKENIZERS,
    GENERATED_A,
  ]),
  folder(
    "embedded-model-implements-its-port",
    "embedded-model/ runs a model in a child, by the port of the engine that asks it.",
    "src/embedded-model",
    ["src/model-engines/embedded/ports[.]ts$", PROGRAMS, `${SPEECH}/recognition/whisper/`],
  ),
  never(
    "native-code-in-its-child",
    "The child's program runs in a process of its own: of it, the server sees only what it is told.",
    product("src/(?!embedded-model/child/)"),
    /^src\/embedded-model\/child\/(?!child-options[.]ts$|main[.]ts$)/,
  ),
  folder("store-implements-ports", "store/ sees only its ports.", "src/store", [
    RUN_PORTS,
    DOMAIN,
    "src/(vector-stores/ports/|rate-limits/ports[.]ts$)",
    "packages/sandbox/src/ports/",
    GENERATED_A,
  ]),
  folder(
    "object-storage-implements-ports",
    "object-storage/ keeps bytes for store/, by its port.",
    "src/object-storage",
    ["src/store/stores/files/file-bytes[.]ts$", DOMAIN],
  ),
  folder("bus-sees-ports", "bus/ tells of runs as the log packs them, by ports.", "src/bus", [
    RUN_FACE,
    RUN_PORTS,
    MODELS,
    "src/store/rows/events/event-block[.]ts$",
  ]),
  folder("vector-stores-see-ports", "vector-stores/ takes files in and searches them, by ports.", "src/vector-stores", [
    MEDIA,
    TOKENIZERS,
    RUN_PORTS,
    DOMAIN,
    GENERATED_A,
  ]),
  folder(
    "responses-api-through-front-doors",
    "Use runs/ by its face, and nothing that does I/O.",
    "src/responses-api",
    [DOMAIN, RUN_FACE, RUN_PORTS, GENERATED_A],
  ),
  folder("batches-see-ports", "batches/ works on what the store queues, by ports.", "src/batches", [
    DOMAIN,
    GENERATED_A,
  ]),
  folder("webhooks-see-ports", "webhooks/ signs and sends what the store queues, by ports.", "src/webhooks", [
    EGRESS,
    DOMAIN,
    GENERATED_A,
  ]),
  folder("rate-limits-implement-ports", "rate-limits/ sees only its ports.", "src/rate-limits", [
    DOMAIN,
    `${SPEECH}/cloud-stt/ports[.]ts$`,
  ]),
  folder("processes-pass-counts-on", "processes/ joins servers and knows not what they serve.", "src/processes", [
    "src/rate-limits/shared-(counts|rates)[.]ts$",
    "src/bus/ports[.]ts$",
  ]),
  folder("telemetry-watches-ports", "telemetry/ sees the ports that others watch themselves by.", "src/telemetry", [
    RUN_FACE,
    RUN_PORTS,
    DOMAIN,
    "packages/http-kit/src/(request-head|request-observer)[.]ts$",
    "src/bus/ports[.]ts$",
    GENERATED_A,
  ]),
  folder(
    "tools-implement-their-port",
    "tools/ sees the port of hosted tools, and what they are made with.",
    "src/tools",
    [EGRESS, MEDIA, PROGRAMS, TOKENIZERS, RUN_PORTS, DOMAIN, GENERATED_A],
  ),
  folder("secrets-see-ports", "secrets/ keeps keys on disk and in the store, and knows not what for.", "src/secrets", [
    "src/config/config-error[.]ts$",
    DOMAIN,
    RUN_PORTS,
  ]),
  folder("version-is-a-leaf", "version/ tells which program this is.", "src/version", []),
  {
    name: "page-stands-on-the-client",
    sentence: "web/chat-lab/ is sent to browsers: it sees the published client, and nothing of the server.",
    kind: "may-import-only",
    from: product("web/chat-lab/"),
    to: /^(web\/chat-lab\/|packages\/client\/src\/index[.]ts$)/,
  },
  {
    name: "inspector-stands-on-the-client",
    sentence:
      "web/inspector/ is sent to browsers: it sees the published client, the linter and the chat lab's microphone.",
    kind: "may-import-only",
    from: product("web/inspector/"),
    to: /^(web\/inspector\/|web\/chat-lab\/microphone[.]ts$|packages\/(client|stream-grammar)\/src\/index[.]ts$)/,
  },
  never(
    "page-needs-no-packages",
    "web/chat-lab/ is written with what browsers have.",
    product("web/chat-lab/"),
    /^npm:/,
  ),
  never(
    "inspector-needs-react",
    "web/inspector/ is written with React and what browsers have.",
    product("web/inspector/"),
    /^npm:(?!react(-dom)?(\/|$))/,
  ),
  {
    name: "page-speaks-through-the-client",
    sentence: "Pages speak to servers through the generated client only.",
    kind: "never-uses",
    from: product("web/"),
    use: /^((window|globalThis)[.])?fetch$|^new (EventSource|WebSocket|XMLHttpRequest)$|^navigator[.]sendBeacon$/,
  },
  never("page-is-a-leaf", "Nothing stands on the page.", /^(?!web\/)/, /^web\//),
  {
    name: "generated-stands-alone",
    sentence: "generated/ is data about a contract.",
    kind: "may-import-only",
    from: /^generated\//,
    to: /^generated\//,
  },
  {
    name: "interfaces-do-not-mix",
    sentence: "The contracts share no types.",
    kind: "never-mixes",
    folder: /^generated\/([^/]+)\//,
  },
  never(
    "servers-are-the-top",
    "Only commands and whole-server tests start servers.",
    product("src/(?!servers/|commands/|main[.]ts$)"),
    /^src\/servers\//,
  ),
  never("main-is-the-top", "Nothing imports the program.", ANY, /^src\/main[.]ts$/),
  never(
    "commands-are-above-servers",
    "Only main.ts runs commands.",
    product("src/(?!commands/|main[.]ts$)"),
    /^src\/commands\//,
  ),
  never(
    "config-reaches-code-as-options",
    "Take your slice of the configuration as an option.",
    product("src/(?!servers/|commands/|secrets/seal-keys|config/|main[.]ts$)"),
    /^src\/config\//,
  ),
  {
    name: "codegen-stands-alone",
    sentence: "A generator that imports the product breaks with it.",
    kind: "may-import-only",
    from: /^scripts\/codegen\//,
    to: /^scripts\/codegen\//,
  },
  {
    name: "chat-page-is-a-strangers",
    sentence: "The page that shows streams is what anyone would write: it sees packages, and nothing of ours.",
    kind: "may-import-only",
    from: /^contract-tests\/renderer\/page\//,
    to: /^contract-tests\/renderer\/page\//,
  },
  never(
    "contract-tests-use-the-wire",
    "A contract test starts servers, speaks through clients and judges what was sent; it never reaches inside.",
    /^contract-tests\//,
    /^(src\/(?!servers\/)|packages\/(?!(client|stream-grammar)\/src\/index[.]ts$))/,
  ),

  ...LIBRARY_RULES,
  {
    name: "environment-in-config",
    sentence: "config/ is the only reader of process.env; programs/ passes a few of its variables on.",
    kind: "never-uses",
    from: outside("src/config", "packages/programs"),
    use: /^process[.](env|loadEnvFile)$/,
  },
  never(
    "environment-by-no-back-door",
    "config/ is the only reader of process.env.",
    outside("src/config"),
    /^node:process$/,
  ),
  never(
    "runs-do-no-io",
    "An engine that does I/O cannot be tested by replaying signals.",
    product("src/runs/"),
    /^node:(?!assert|events|timers|util)/,
  ),
  {
    name: "runs-decide-without-clock-or-die",
    sentence: "runs decide without clock or die: time, chance and the world arrive as signals.",
    kind: "never-uses",
    from: DECIDING,
    use: /^(Date[.]now|new Date|Math[.]random|set(Timeout|Interval|Immediate)|queueMicrotask|fetch|performance[.].*|crypto[.].*)$/,
  },
  never(
    "runs-decide-without-imported-clock-or-die",
    "runs decide without clock or die: time, chance and the world arrive as signals.",
    DECIDING,
    /^node:(crypto|timers|perf_hooks)/,
  ),
  {
    name: "declared-dependencies-only",
    sentence: "Ship what you import: the package is not among the dependencies.",
    kind: "ships-what-it-imports",
    from: PRODUCT,
  },
];
