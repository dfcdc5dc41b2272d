import type { Setting } from "../setting.ts";

/** The language model that runs in a child process of this server. */
export const EMBEDDED_MODEL_SETTINGS = {
  modelFile: {
    name: "MODEL_FILE",
    section: "Model",
    kind: "path",
    default: null,
    defaultText: "the model that `antiphon pull` fetched, if no model server is found on this machine",
    text: "File of a language model in the format GGUF, which this server runs itself. docs/embedded-model.md says which file for how much memory. Used if MODELS_FILE and MODEL_BASE_URL are not set. `none` uses no fetched model.",
  },
  modelTemplate: {
    name: "MODEL_TEMPLATE",
    section: "Model",
    kind: "choice",
    default: "auto",
    choices: ["auto", "chatml", "gemma", "llama3", "plain"],
    text: "How MODEL_FILE is shown a conversation. auto uses the template in the file; a base model has none.",
  },
  modelSlots: {
    name: "MODEL_SLOTS",
    section: "Model",
    kind: "integer",
    default: 2,
    min: 1,
    max: 64,
    text: "How many answers MODEL_FILE writes at the same time. Each slot has memory for one window, and keeps what it has read.",
  },
  modelThreads: {
    name: "MODEL_THREADS",
    section: "Model",
    kind: "integer",
    default: null,
    defaultText: "the cores but one, at least one",
    min: 1,
    max: 256,
    text: "Threads that compute for MODEL_FILE. They wait for each other, so more threads than free cores make it many times slower.",
  },
  modelQueueMax: {
    name: "MODEL_QUEUE_MAX",
    section: "Model",
    kind: "integer",
    default: 64,
    min: 0,
    max: 100_000,
    text: "How many requests wait for a slot of MODEL_FILE. Further ones get 429.",
  },
  modelEngineDir: {
    name: "MODEL_ENGINE_DIR",
    section: "Model",
    kind: "path",
    default: null,
    defaultText: "language-model/engine in DATA_DIR",
    text: "Folder of the engine that runs MODEL_FILE. `antiphon pull` fills it.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
