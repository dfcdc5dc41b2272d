import { type ImportRule, never, product } from "./import-rule.ts";

/** The only folders that may import a library or start programs. */
export const LIBRARY_RULES: readonly ImportRule[] = [
  never(
    "web-framework-in-transport",
    "Koa, @koa/multer, multer, ws and node:http live in transport/.",
    product("src/(?!transport/)"),
    /^(npm:(koa|@koa\/.*|multer|ws)|node:(https?|http2))$/,
  ),
  never(
    "counting-libraries-in-tokenizers",
    "gpt-tokenizer and image-dimensions live in tokenizers/.",
    product("src/(?!tokenizers/)"),
    /^npm:(gpt-tokenizer|image-dimensions)$/,
  ),
  never("database-in-store", "SQL lives in store/.", product("src/(?!store/)"), /^(npm:kysely|node:sqlite)$/),
  never("postgres-in-store", "pg lives in store/ and bus/.", product("src/(?!store/|bus/)"), /^npm:pg$/),
  never(
    "upstream-http-in-engines",
    "undici lives in model-engines/, speech/, formatting/, tools/, vector-stores/, object-storage/ and egress/; what a client makes the server call goes through egress/.",
    product("src/(?!model-engines/|speech/|formatting/|tools/|vector-stores/|object-storage/|egress/)"),
    /^npm:undici$/,
  ),
  never(
    "signatures-in-object-storage",
    "aws4fetch lives in object-storage/.",
    product("src/(?!object-storage/)"),
    /^npm:aws4fetch$/,
  ),
  never(
    "pdf-parser-in-media",
    "PDFs, Office documents and web pages are read in media/, in a thread that can be stopped.",
    product("src/(?!media/)"),
    /^npm:(unpdf|yauzl|saxes|linkedom|html-to-text|@mozilla\/readability)$/,
  ),
  never(
    "decoders-in-audio-formats",
    "Recordings are decoded in audio-formats/, in a thread that can be stopped.",
    product("src/(?!audio-formats/)"),
    /^npm:(opus-decoder|@wasm-audio-decoders\/flac)$/,
  ),
  never(
    "rate-limiter-in-rate-limits",
    "The library that counts lives in rate-limits/.",
    product("src/(?!rate-limits/)"),
    /^npm:rate-limiter-flexible$/,
  ),
  never(
    "address-library-in-egress",
    "ipaddr.js lives in egress/, which corrects what it reads too freely.",
    product("src/(?!egress/)"),
    /^npm:ipaddr[.]js$/,
  ),
  never(
    "caches-where-things-are-looked-up",
    "lru-cache lives in media/, model-engines/, store/ and tools/, which keep what they could look up again.",
    product("src/(?!media/|model-engines/|store/|tools/)"),
    /^npm:lru-cache$/,
  ),
  never(
    "mcp-client-in-its-tool",
    "The client of MCP servers lives in tools/mcp/.",
    product("src/(?!tools/mcp/)"),
    /^npm:@modelcontextprotocol\/.*$/,
  ),
  never(
    "pyodide-in-its-engine",
    "Pyodide runs in the child process of its engine, which confines it.",
    product("src/(?!containers/engines/pyodide/)"),
    /^npm:pyodide$/,
  ),
  never(
    "telemetry-libraries-in-telemetry",
    "pino and OpenTelemetry live in telemetry/; others say what happens through its ports.",
    product("src/(?!telemetry/)"),
    /^npm:(pino|@opentelemetry\/.*)$/,
  ),
  never(
    "programs-where-they-are-bounded",
    "Other programs are started in programs/, where they are bounded and stopped.",
    product("src/(?!programs/)"),
    /^node:child_process$/,
  ),
  never(
    "cluster-in-processes",
    "Several processes are started in processes/, which watches them.",
    product("src/(?!processes/)"),
    /^node:cluster$/,
  ),
];
