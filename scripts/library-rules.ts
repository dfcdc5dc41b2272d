import { type ImportRule, never, outside } from "./import-rule.ts";

/** Those who call servers over HTTP. */
const CALLERS = [
  ...["model-engines", "tools", "vector-stores", "object-storage"].map((name) => `src/${name}`),
  ...["recognition", "formatting"].map((name) => `packages/speech/src/${name}`),
  "packages/egress",
];

/** The only folders that may import a library or start programs. */
export const LIBRARY_RULES: readonly ImportRule[] = [
  never(
    "web-framework-in-http-kit",
    "Koa, @koa/multer, multer, ws and node:http live in packages/http-kit/; a child that serves this server alone has node:http, too.",
    outside("packages/http-kit", "src/embedded-model/child"),
    /^(npm:(koa|@koa\/.*|multer|ws)|node:(https?|http2))$/,
  ),
  never(
    "counting-libraries-in-tokenizers",
    "gpt-tokenizer and image-dimensions live in tokenizers/.",
    outside("packages/tokenizers"),
    /^npm:(gpt-tokenizer|image-dimensions)$/,
  ),
  never("database-in-store", "SQL lives in store/.", outside("src/store"), /^(npm:kysely|node:sqlite)$/),
  never("postgres-in-store", "pg lives in store/ and bus/.", outside("src/store", "src/bus"), /^npm:pg$/),
  never(
    "upstream-http-in-engines",
    "undici lives in model-engines/, tools/, vector-stores/, object-storage/ and, of packages/, in speech/ and egress/; what a client makes the server call goes through egress/.",
    outside(...CALLERS),
    /^npm:undici$/,
  ),
  never(
    "signatures-in-object-storage",
    "aws4fetch lives in object-storage/.",
    outside("src/object-storage"),
    /^npm:aws4fetch$/,
  ),
  never(
    "pdf-parser-in-media",
    "PDFs, Office documents, archives and web pages are read in media/, in a thread that can be stopped.",
    outside("packages/media"),
    /^npm:(unpdf|yauzl|yazl|saxes|linkedom|html-to-text|@mozilla\/readability)$/,
  ),
  never(
    "decoders-in-audio-formats",
    "Recordings are decoded in audio-formats/, in a thread that can be stopped.",
    outside("packages/speech/src/audio-formats"),
    /^npm:(opus-decoder|@wasm-audio-decoders\/flac)$/,
  ),
  never(
    "rate-limiter-in-rate-limits",
    "The library that counts lives in rate-limits/.",
    outside("src/rate-limits"),
    /^npm:rate-limiter-flexible$/,
  ),
  never(
    "address-library-in-egress",
    "ipaddr.js lives in egress/, which corrects what it reads too freely.",
    outside("packages/egress"),
    /^npm:ipaddr[.]js$/,
  ),
  never(
    "arithmetic-in-built-in-model",
    "expr-eval-fork lives in built-in-model/, which gives it no names.",
    outside("packages/built-in-model"),
    /^npm:expr-eval-fork$/,
  ),
  never(
    "caches-where-things-are-looked-up",
    "lru-cache lives in media/, model-engines/, store/ and tools/, which keep what they could look up again.",
    outside("packages/media", "src/model-engines", "src/store", "src/tools"),
    /^npm:lru-cache$/,
  ),
  never(
    "mcp-client-in-its-tool",
    "The client of MCP servers lives in tools/mcp/.",
    outside("src/tools/mcp", "src/mcp-server"),
    /^npm:@modelcontextprotocol\/.*$/,
  ),
  never(
    "mcp-server-in-its-folder",
    "The library of MCP servers lives in mcp-server/.",
    outside("src/mcp-server"),
    /^npm:@modelcontextprotocol\/server.*$/,
  ),
  never(
    "pyodide-in-its-engine",
    "Pyodide runs in the child process of its engine, which confines it.",
    outside("packages/sandbox/src/engines/pyodide"),
    /^npm:pyodide$/,
  ),
  never(
    "telemetry-libraries-in-telemetry",
    "pino and OpenTelemetry live in telemetry/; others say what happens through its ports.",
    outside("src/telemetry"),
    /^npm:(pino|@opentelemetry\/.*)$/,
  ),
  never(
    "programs-where-they-are-bounded",
    "Other programs are started in programs/, where they are bounded and stopped.",
    outside("packages/programs"),
    /^node:child_process$/,
  ),
  never(
    "cluster-in-processes",
    "Several processes are started in processes/, which watches them.",
    outside("src/processes"),
    /^node:cluster$/,
  ),
];
