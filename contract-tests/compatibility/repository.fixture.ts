import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "../../tests/kit/temporary-folder.ts";

/** A real git repository in a temporary folder that is removed after the test. */
export interface Repository {
  readonly root: string;
  write(path: string, text: string): void;
  /** Replaces a text; throws if the file does not contain it. */
  edit(path: string, from: string, to: string): void;
  copy(from: string, path: string): void;
  commit(tag?: string): void;
}

export function makeRepository(): Repository {
  const root = temporaryFolder();
  const git = (...command: readonly string[]): void => {
    const env = { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1" };
    execFileSync("git", ["-C", root, "-c", "user.name=a", "-c", "user.email=a@b.test", ...command], { env });
  };
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  git("init", "--quiet");
  return {
    root,
    write,
    edit: (path, from, to) => {
      const text = readFileSync(join(root, path), "utf8");
      if (!text.includes(from)) throw new Error(`${path} does not contain ${from}`);
      write(path, text.replace(from, to));
    },
    copy: (from, path) => cpSync(from, join(root, path), { recursive: true }),
    commit: (tag) => {
      git("add", "--all");
      git("commit", "--quiet", "--allow-empty", "--message", "A change");
      if (tag !== undefined) git("tag", tag);
    },
  };
}

export const OPENAPI = "specs/letters/openapi.yaml";
export const STREAM = "specs/letters/stream.yaml";
export const SCHEMAS = "specs/schemas/letters.yaml";

/** A small contract that uses every kind of construct. */
const LETTERS: Readonly<Record<string, string>> = {
  [OPENAPI]: `
openapi: 3.1.0
security: []
paths:
  /letters:
    post:
      operationId: sendLetter
      parameters:
        - { name: copies, in: query, schema: { type: integer, maximum: 9 } }
      requestBody:
        required: false
        content:
          application/json: { schema: { $ref: "../schemas/letters.yaml#/LetterInput" } }
          text/plain: { schema: { type: string } }
      responses:
        "200":
          headers: { x-request-id: { schema: { type: string } } }
          content:
            application/json: { schema: { $ref: "../schemas/letters.yaml#/Letter" } }
            text/event-stream: { schema: { $ref: "../schemas/letters.yaml#/Event" } }
        "404": { content: { application/json: { schema: { type: object } } } }
  /letters/{id}:
    get:
      operationId: getLetter
      responses:
        "200": { content: { application/json: { schema: { $ref: "../schemas/letters.yaml#/Letter" } } } }
`,
  [STREAM]: `
asyncapi: 3.1.0
channels:
  post: { address: /post, messages: { Sent: { $ref: "#/components/messages/Sent" }, Ack: { $ref: "#/components/messages/Ack" } } }
operations:
  hear: { action: receive, channel: { $ref: "#/channels/post" }, messages: [{ $ref: "#/channels/post/messages/Ack" }] }
  tell:
    action: send
    channel: { $ref: "#/channels/post" }
    messages: [{ $ref: "#/channels/post/messages/Sent" }, { $ref: "#/channels/post/messages/Ack" }]
components:
  messages:
    Sent: { payload: { $ref: "../schemas/letters.yaml#/Sent" } }
    Ack: { payload: { $ref: "../schemas/letters.yaml#/Ack" } }
`,
  [SCHEMAS]: `
LetterInput:
  type: object
  additionalProperties: false
  required: [text]
  properties:
    text: { type: [string, "null"], maxLength: 100 }
    color: { type: string, enum: [black, blue] }
    pages: { type: array, items: { $ref: "#/LetterInput" } }
Letter:
  type: object
  additionalProperties: false
  required: [id, status]
  properties:
    id: { type: string, maxLength: 10 }
    status: { type: string, enum: [sent, lost] }
    weight: { type: integer }
    things: { type: array, items: { oneOf: [{ $ref: "#/Stamp" }, { $ref: "#/Seal" }] } }
    author: { type: object, additionalProperties: false, required: [name], properties: { name: { type: string } } }
Stamp: { type: object, additionalProperties: false, required: [type], properties: { type: { const: stamp } } }
Seal: { type: object, additionalProperties: false, required: [type], properties: { type: { const: seal } } }
Note: { type: object, additionalProperties: false, required: [type], properties: { type: { const: note } } }
Event: { oneOf: [{ $ref: "#/Sent" }, { $ref: "#/Ack" }] }
Sent:
  type: object
  additionalProperties: false
  required: [type, letter]
  properties: { type: { type: string, const: sent }, letter: { $ref: "#/Letter" } }
Ack:
  type: object
  additionalProperties: false
  required: [type]
  properties: { type: { type: string, const: ack }, count: { type: integer } }
`,
};

/** Creates a repository whose contract is released as v1.0.0. */
export function releaseLetters(): Repository {
  const repository = makeRepository();
  for (const [path, text] of Object.entries(LETTERS)) repository.write(path, text);
  repository.commit("v1.0.0");
  return repository;
}
