import { folder, type ImportRule, never, product } from "./import-rule.ts";
import { LIBRARY_RULES } from "./library-rules.ts";

const PRODUCT = product("src/");
const DECIDING = product("src/runs/(transition|fold/|blocks/|run-state|run-end|wire-event)");
const ANY = /^/;
const GENERATED_A = "generated/responses-api/";
const GENERATED_B = "generated/local-stt/";
/** What runs/ offers to others: its ports, and the forms of what they carry. */
const RUN_PORTS = "src/runs/(ports/|(hosted|recorded-event|reading/neighbours|request/model-request)[.]ts$)";
const RUN_FACE = "src/runs/index[.]ts$";
/** What stored things are, and the ports to them, by subject. */
const DOMAIN = "src/domain/";

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
    roots: ["src"],
  },
  {
    name: "no-dead-files",
    sentence:
      "Neither the server nor the client reaches this file. Delete it, wire it in, or name it .fixture.ts if it serves tests.",
    kind: "is-reached",
    what: product("src/(?!.*[.]d[.]ts$)"),
    roots: /^src\/(main|client\/(chat\/)?index)[.]ts$/,
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

  folder("base-is-a-leaf", "base/ knows nothing above it.", "base", []),
  folder("config-is-a-leaf", "config/ turns the environment into data.", "config", []),
  folder("transport-knows-no-product", "transport/ mounts any contract and names none.", "transport", []),
  folder("runs-know-no-outside", "runs/ names what it needs in ports.ts; others supply it.", "runs", [GENERATED_A]),
  folder("domain-names-what-is-stored", "domain/ has types and ports, and does nothing.", "domain", [
    RUN_PORTS,
    GENERATED_A,
  ]),
  folder("engines-implement-ports", "model-engines/ sees only its port.", "model-engines", [
    RUN_PORTS,
    "src/tokenizers/",
    GENERATED_A,
  ]),
  folder("store-implements-ports", "store/ sees only its ports.", "store", [
    RUN_PORTS,
    DOMAIN,
    "src/(vector-stores|containers|rate-limits)/ports[.]ts$",
    GENERATED_A,
  ]),
  folder("object-storage-implements-ports", "object-storage/ keeps bytes for store/, by its port.", "object-storage", [
    "src/store/stores/files/file-bytes[.]ts$",
    DOMAIN,
  ]),
  folder("bus-sees-ports", "bus/ tells of runs as the log packs them, by ports.", "bus", [
    RUN_FACE,
    RUN_PORTS,
    "src/store/rows/events/event-block[.]ts$",
  ]),
  folder("containers-see-ports", "containers/ runs code in sandboxes, by ports.", "containers", [
    "src/programs/",
    RUN_PORTS,
    DOMAIN,
    GENERATED_A,
  ]),
  folder("vector-stores-see-ports", "vector-stores/ takes files in and searches them, by ports.", "vector-stores", [
    "src/media/",
    "src/tokenizers/",
    RUN_PORTS,
    DOMAIN,
    GENERATED_A,
  ]),
  folder("responses-api-through-front-doors", "Use runs/ by its face, and nothing that does I/O.", "responses-api", [
    DOMAIN,
    RUN_FACE,
    RUN_PORTS,
    GENERATED_A,
  ]),
  folder("rate-limits-implement-ports", "rate-limits/ sees only its ports.", "rate-limits", [
    DOMAIN,
    "src/cloud-stt/ports[.]ts$",
  ]),
  folder("processes-pass-counts-on", "processes/ joins servers and knows not what they serve.", "processes", [
    "src/rate-limits/shared-(counts|rates)[.]ts$",
    "src/bus/ports[.]ts$",
  ]),
  folder("tokenizers-are-a-leaf", "tokenizers/ counts texts and pictures and knows not what for.", "tokenizers", []),
  folder(
    "stream-grammar-is-a-leaf",
    "stream-grammar/ judges what was sent, and not by how it is made.",
    "stream-grammar",
    [],
  ),
  folder("telemetry-watches-ports", "telemetry/ sees the ports that others watch themselves by.", "telemetry", [
    RUN_FACE,
    RUN_PORTS,
    DOMAIN,
    "src/transport/(request-head|request-observer)[.]ts$",
    "src/bus/ports[.]ts$",
    GENERATED_A,
  ]),
  folder("tools-implement-their-port", "tools/ sees the port of hosted tools, and what they are made with.", "tools", [
    "src/egress/",
    "src/media/",
    "src/programs/",
    "src/tokenizers/",
    RUN_PORTS,
    DOMAIN,
    GENERATED_A,
  ]),
  folder("egress-is-a-leaf", "egress/ guards calls and knows not what for.", "egress", []),
  folder("speech-sees-sound", "speech/ turns sound into text and knows not what for.", "speech", [
    "src/audio/",
    "src/audio-formats/",
    "src/programs/",
  ]),
  folder("media-implements-ports", "media/ sees its port, what a model takes, and what it is made with.", "media", [
    "src/audio/",
    "src/egress/",
    "src/speech/",
    RUN_PORTS,
    DOMAIN,
    GENERATED_A,
  ]),
  folder("audio-is-a-leaf", "audio/ computes with samples and knows nobody.", "audio", []),
  folder("programs-is-a-leaf", "programs/ runs other programs and knows not what for.", "programs", []),
  folder("audio-formats-see-sound", "audio-formats/ reads recordings and knows not what for.", "audio-formats", [
    "src/audio/",
    "src/programs/",
  ]),
  folder("formatting-is-a-leaf", "formatting/ asks a provider and knows not what for.", "formatting", []),
  folder("voices-implement-ports", "voices/ sees its port, what a model says, and audio/.", "voices", [
    "src/audio/",
    "src/programs/",
    RUN_PORTS,
    DOMAIN,
    GENERATED_A,
  ]),
  folder("local-stt-through-front-doors", "local-stt/ never meets responses-api/ or Koa.", "local-stt", [
    "src/audio/",
    "src/audio-formats/",
    "src/formatting/",
    "src/speech/",
    GENERATED_B,
  ]),
  folder("secrets-see-ports", "secrets/ keeps keys on disk and in the store, and knows not what for.", "secrets", [
    "src/config/config-error[.]ts$",
    DOMAIN,
    RUN_PORTS,
    "src/store/stores/key-store[.]ts$",
  ]),
  folder("version-is-a-leaf", "version/ tells which program this is.", "version", []),
  folder("cloud-stt-stands-on-local-stt", "cloud-stt/ is another door to the streams of local-stt/.", "cloud-stt", [
    "src/audio/",
    "src/local-stt/",
    GENERATED_B,
  ]),
  {
    name: "client-stands-alone",
    sentence: "client/ is published without the server, so it sees only the contracts.",
    kind: "may-import-only",
    from: product("src/client/"),
    to: /^(src\/client|generated)\//,
  },
  {
    name: "page-stands-on-the-client",
    sentence: "web/chat-lab/ is sent to browsers: it sees the published client, and nothing of the server.",
    kind: "may-import-only",
    from: product("web/chat-lab/"),
    to: /^(web\/chat-lab\/|src\/client\/index[.]ts$)/,
  },
  {
    name: "inspector-stands-on-the-client",
    sentence:
      "web/inspector/ is sent to browsers: it sees the published client, the linter and the chat lab's microphone.",
    kind: "may-import-only",
    from: product("web/inspector/"),
    to: /^(web\/inspector\/|web\/chat-lab\/microphone[.]ts$|src\/(client|stream-grammar)\/index[.]ts$)/,
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
    /^src\/(?!servers\/|(client|stream-grammar)\/index[.]ts$)/,
  ),

  ...LIBRARY_RULES,
  {
    name: "environment-in-config",
    sentence: "config/ is the only reader of process.env; programs/ passes a few of its variables on.",
    kind: "never-uses",
    from: product("src/(?!config/|programs/inherited-environment[.]ts)"),
    use: /^process[.](env|loadEnvFile)$/,
  },
  never(
    "environment-by-no-back-door",
    "config/ is the only reader of process.env.",
    product("src/(?!config/)"),
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
