import type { Setting } from "./setting.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Who formats what was dictated, and answers the demo chat. */
export const FORMATTING_SETTINGS = {
  formatting: {
    name: "FORMATTING",
    section: "Formatting",
    kind: "boolean",
    default: true,
    text: "Whether text is formatted by a language model. Where it is not, the raw text comes back.",
  },
  formatterBaseUrl: {
    name: "FORMATTER_BASE_URL",
    section: "Formatting",
    kind: "url",
    default: null,
    defaultText: "Ollama, if it runs on this machine and FIND_LOCAL_DAEMON is true",
    text: "The provider that formats: an OpenAI-compatible chat-completions server, such as https://api.example.com/v1, or the Responses API of one, such as http://127.0.0.1:8080/v1/responses.",
  },
  formatterApiKey: {
    name: "FORMATTER_API_KEY",
    section: "Formatting",
    kind: "secret",
    default: null,
    text: "The key that the formatting provider asks for. Without one nothing is formatted; a provider that asks for none takes any.",
  },
  formatterModel: {
    name: "FORMATTER_MODEL",
    section: "Formatting",
    kind: "string",
    default: null,
    defaultText: "the first that the provider lists",
    text: "The model that formats.",
  },
  formatterTimeoutMs: {
    name: "FORMATTER_TIMEOUT_MS",
    section: "Formatting",
    kind: "duration",
    default: 30 * SECOND,
    min: 1,
    max: 10 * MINUTE,
    text: "How long the formatting provider may take for one text. Then the raw text comes back.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
