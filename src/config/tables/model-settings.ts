import type { Setting } from "../setting.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** Address, credentials, dialect and time limits of the model server. */
export const MODEL_SETTINGS = {
  modelBaseUrl: {
    name: "MODEL_BASE_URL",
    section: "Model",
    kind: "url",
    default: null,
    defaultText: "a model server found on this machine, otherwise the built-in engine",
    text: "OpenAI-compatible chat-completions server, such as http://127.0.0.1:11434/v1.",
  },
  modelApiKey: {
    name: "MODEL_API_KEY",
    section: "Model",
    kind: "secret",
    default: null,
    text: "Key for the model server.",
  },
  modelProfile: {
    name: "MODEL_PROFILE",
    section: "Model",
    kind: "choice",
    default: "auto",
    choices: ["auto", "openai", "generic"],
    text: "Dialect of chat completions that the model server speaks. auto decides by its host name.",
  },
  findLocalDaemon: {
    name: "FIND_LOCAL_DAEMON",
    section: "Model",
    kind: "boolean",
    default: true,
    text: "Look for Ollama on this machine if MODEL_BASE_URL is not set.",
  },
  scenarioFile: {
    name: "SCENARIO_FILE",
    section: "Model",
    kind: "path",
    default: null,
    text: "YAML file with prepared answers of the built-in engine. If set, MODEL_BASE_URL is not used.",
  },
  modelConnectTimeoutMs: {
    name: "MODEL_CONNECT_TIMEOUT_MS",
    section: "Model",
    kind: "duration",
    default: 10 * SECOND,
    min: 1,
    max: 10 * MINUTE,
    text: "How long connecting to the model server may take.",
  },
  modelIdleTimeoutMs: {
    name: "MODEL_IDLE_TIMEOUT_MS",
    section: "Model",
    kind: "duration",
    default: 5 * MINUTE,
    min: 1,
    max: DAY,
    text: "How long the model server may stay silent, before and during its answer.",
  },
  modelTotalTimeoutMs: {
    name: "MODEL_TOTAL_TIMEOUT_MS",
    section: "Model",
    kind: "duration",
    default: 60 * MINUTE,
    min: 1,
    max: DAY,
    text: "How long one whole answer of the model server may take.",
  },
  modelContextWindow: {
    name: "MODEL_CONTEXT_WINDOW",
    section: "Model",
    kind: "integer",
    default: null,
    min: 256,
    max: 1_000_000_000,
    defaultText: "as reported by the model server",
    text: "Most tokens of input and answer together. truncation and context_management use it.",
  },
  modelConnectionsMax: {
    name: "MODEL_CONNECTIONS_MAX",
    section: "Model",
    kind: "integer",
    default: 512,
    min: 1,
    max: 65_535,
    text: "Most connections to the model server. Each carries one answer at a time; further answers wait.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
