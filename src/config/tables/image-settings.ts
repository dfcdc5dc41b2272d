import type { Setting } from "../setting.ts";

/** The images server for the image_generation tool. */
export const IMAGE_SETTINGS = {
  imageBaseUrl: {
    name: "IMAGE_BASE_URL",
    section: "Tools",
    kind: "url",
    default: null,
    text: "OpenAI-compatible server with /images/generations and /images/edits, such as http://127.0.0.1:8080/v1, for the tool image_generation.",
  },
  imageApiKey: {
    name: "IMAGE_API_KEY",
    section: "Tools",
    kind: "secret",
    default: null,
    text: "Key for the images server.",
  },
  imageModel: {
    name: "IMAGE_MODEL",
    section: "Tools",
    kind: "string",
    default: null,
    defaultText: "the server's own choice",
    text: "Model name sent to the images server if the tool names none.",
  },
  imageTimeoutMs: {
    name: "IMAGE_TIMEOUT_MS",
    section: "Tools",
    kind: "duration",
    default: 180_000,
    min: 1000,
    max: 3_600_000,
    text: "How long generating one image may take.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
