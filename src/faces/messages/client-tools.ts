/** What a tool that clients run by themselves takes. */
export interface ClientToolSchema {
  readonly description: string;
  /** A JSON Schema. */
  readonly parameters: Record<string, unknown>;
}

const PATH = { type: "string", description: "Absolute path." } as const;
const VIEW_RANGE = {
  type: "array",
  items: { type: "integer" },
  minItems: 2,
  maxItems: 2,
  description: "First and last line to show, from 1; -1 is the last line of the file.",
} as const;

const BASH: ClientToolSchema = {
  description: "Runs a command in a shell that stays open between calls.",
  parameters: {
    type: "object",
    properties: {
      command: { type: "string", description: "The command." },
      restart: { type: "boolean", description: "Starts the shell anew." },
    },
  },
};

const TEXT_EDITOR: ClientToolSchema = {
  description: "Shows, makes and edits text files.",
  parameters: {
    type: "object",
    properties: {
      command: { type: "string", enum: ["view", "create", "str_replace", "insert"] },
      path: PATH,
      file_text: { type: "string", description: "The text of a file to create." },
      old_str: { type: "string", description: "The text to replace; it must occur once." },
      new_str: { type: "string", description: "The text that replaces it." },
      insert_line: { type: "integer", description: "The line after which to insert; 0 is the beginning." },
      insert_text: { type: "string", description: "The text to insert." },
      view_range: VIEW_RANGE,
    },
    required: ["command", "path"],
  },
};

const MEMORY: ClientToolSchema = {
  description: "Keeps notes between conversations, as files in /memories.",
  parameters: {
    type: "object",
    properties: {
      command: { type: "string", enum: ["view", "create", "str_replace", "insert", "delete", "rename"] },
      path: PATH,
      file_text: { type: "string" },
      old_str: { type: "string" },
      new_str: { type: "string" },
      insert_line: { type: "integer" },
      insert_text: { type: "string" },
      old_path: PATH,
      new_path: PATH,
      view_range: VIEW_RANGE,
    },
    required: ["command"],
  },
};

/** Tools by the beginning of their dated types. */
const SCHEMAS: readonly (readonly [beginning: string, schema: ClientToolSchema])[] = [
  ["bash_", BASH],
  ["text_editor_", TEXT_EDITOR],
  ["memory_", MEMORY],
];

/** The published schema of a dated type, such as bash_20250124; null for other types. */
export function clientToolSchema(type: string): ClientToolSchema | null {
  return SCHEMAS.find(([beginning]) => type.startsWith(beginning))?.[1] ?? null;
}
