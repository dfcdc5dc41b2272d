import type { Setting } from "../setting.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** The provider that formats dictated text and answers the demo chat. */
export const FORMATTING_SETTINGS = {
  formatting: {
    name: "FORMATTING",
    section: "Formatting",
    kind: "boolean",
    default: true,
    text: "Format text with a language model. If false, formatting requests return the raw text.",
  },
  formatterBaseUrl: {
    name: "FORMATTER_BASE_URL",
    section: "Formatting",
    kind: "url",
    default: null,
    defaultText: "Ollama, if it runs on this machine and FIND_LOCAL_DAEMON is true",
    text: "URL of the formatting provider: an OpenAI-compatible chat-completions server, such as https://api.example.com/v1, or a Responses API, such as http://127.0.0.1:8080/v1/responses.",
  },
  formatterApiKey: {
    name: "FORMATTER_API_KEY",
    section: "Formatting",
    kind: "secret",
    default: null,
    text: "Key for the formatting provider. Without a key nothing is formatted; if the provider needs no key, set any value.",
  },
  formatterModel: {
    name: "FORMATTER_MODEL",
    section: "Formatting",
    kind: "string",
    default: null,
    defaultText: "the first model in the provider's list",
    text: "Model that formats text.",
  },
  formatterTimeoutMs: {
    name: "FORMATTER_TIMEOUT_MS",
    section: "Formatting",
    kind: "duration",
    default: 30 * SECOND,
    min: 1,
    max: 10 * MINUTE,
    text: "How long the provider may take to format one text. After that, the request returns the raw text.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
