import type { Setting } from "./setting.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** What the model server is, and how it is spoken to. */
export const MODEL_SETTINGS = {
  modelBaseUrl: {
    name: "MODEL_BASE_URL",
    section: "Model",
    kind: "url",
    default: null,
    defaultText: "a model server found on this machine, or else the built-in engine",
    text: "An OpenAI-compatible chat-completions server, such as http://127.0.0.1:11434/v1.",
  },
  modelApiKey: {
    name: "MODEL_API_KEY",
    section: "Model",
    kind: "secret",
    default: null,
    text: "The key that the model server asks for.",
  },
  modelProfile: {
    name: "MODEL_PROFILE",
    section: "Model",
    kind: "choice",
    default: "auto",
    choices: ["auto", "openai", "generic"],
    text: "Which dialect of chat completions the model server speaks. auto decides by its host name.",
  },
  findLocalDaemon: {
    name: "FIND_LOCAL_DAEMON",
    section: "Model",
    kind: "boolean",
    default: true,
    text: "Whether to look for Ollama on this machine when MODEL_BASE_URL is not set.",
  },
  scenarioFile: {
    name: "SCENARIO_FILE",
    section: "Model",
    kind: "path",
    default: null,
    text: "A YAML file that tells the built-in engine what to answer to what. MODEL_BASE_URL is not used then.",
  },
  modelConnectTimeoutMs: {
    name: "MODEL_CONNECT_TIMEOUT_MS",
    section: "Model",
    kind: "duration",
    default: 10 * SECOND,
    min: 1,
    max: 10 * MINUTE,
    text: "How long a connection to the model server may take to stand.",
  },
  modelIdleTimeoutMs: {
    name: "MODEL_IDLE_TIMEOUT_MS",
    section: "Model",
    kind: "duration",
    default: 5 * MINUTE,
    min: 1,
    max: DAY,
    text: "How long the model server may send nothing, before its answer as well as within it.",
  },
  modelTotalTimeoutMs: {
    name: "MODEL_TOTAL_TIMEOUT_MS",
    section: "Model",
    kind: "duration",
    default: 60 * MINUTE,
    min: 1,
    max: DAY,
    text: "How long one answer of the model server may take as a whole.",
  },
  modelContextWindow: {
    name: "MODEL_CONTEXT_WINDOW",
    section: "Model",
    kind: "integer",
    default: null,
    min: 256,
    max: 1_000_000_000,
    defaultText: "what the model server tells",
    text: "Tokens that input and answer may take together. truncation and context_management keep to it.",
  },
  modelConnectionsMax: {
    name: "MODEL_CONNECTIONS_MAX",
    section: "Model",
    kind: "integer",
    default: 512,
    min: 1,
    max: 65_535,
    text: "Connections to the model server. Each carries one answer at a time, and further ones wait.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
