import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { compareWithRelease } from "./compare-with-release.fixture.ts";
import { makeRepository, OPENAPI, type Repository, releaseLetters, SCHEMAS, STREAM } from "./repository.fixture.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const own = compareWithRelease(ROOT);
console.log(own.summary);

/** A client of the last release must keep working, except where a page in docs/decisions/ announces a break. */
describe("specs/ compared with the last release", () => {
  test("every breaking change is announced in docs/decisions/", ({ skip }) => {
    skip(own.isSkipped, own.summary);
    expect(own.missing, "lines for **Breaks.** in a new page of docs/decisions/").toEqual([]);
  });

  test("every announced breaking change is real", ({ skip }) => {
    skip(own.isSkipped, own.summary);
    expect(own.unneeded).toEqual([]);
  });
});

type Edit = readonly [file: string, from: string, to: string];

const LETTER_USERS = "(POST /letters, GET /letters/{id}, tell)";

const BREAKING: Readonly<Record<string, readonly [edit: Edit, ...lines: string[]]>> = {
  "an operation that is gone": [
    [OPENAPI, "    get:\n", "    put:\n"],
    "- `letters GET /letters/{id}: no longer served` (GET /letters/{id})",
  ],
  "a key that is asked for newly": [
    [OPENAPI, "security: []", "security: [{ bearer: [] }]"],
    "- `letters POST /letters request: needs a key` (POST /letters)",
    "- `letters GET /letters/{id} request: needs a key` (GET /letters/{id})",
  ],
  "a parameter that is required newly": [
    [OPENAPI, "name: copies, in: query,", "name: copies, in: query, required: true,"],
    "- `letters POST /letters query copies: may be left out` (POST /letters)",
  ],
  "a parameter with a lower limit": [
    [OPENAPI, "maximum: 9", "maximum: 8"],
    "- `letters POST /letters query copies: maximum 8` (POST /letters)",
  ],
  "a parameter that is gone": [
    [OPENAPI, "name: copies", "name: number"],
    "- `letters POST /letters query copies: no such parameter` (POST /letters)",
  ],
  "a body that is required newly": [
    [OPENAPI, "required: false", "required: true"],
    "- `letters POST /letters request: may be left out` (POST /letters)",
  ],
  "a kind of body that is not read any more": [
    [OPENAPI, "text/plain: {", "text/html: {"],
    "- `letters POST /letters request text/plain: not accepted` (POST /letters)",
  ],
  "a member of a request that is required newly": [
    [SCHEMAS, "required: [text]", "required: [text, color]"],
    "- `letters request LetterInput.color: may be left out` (POST /letters)",
  ],
  "a member of a request that is gone": [
    [SCHEMAS, "    color: { type: string, enum: [black, blue] }\n", ""],
    "- `letters request LetterInput.color: no such member` (POST /letters)",
  ],
  "a value of a request that is gone": [
    [SCHEMAS, "[black, blue]", "[black]"],
    '- `letters request LetterInput.color: no "blue"` (POST /letters)',
  ],
  "a null that is refused newly": [
    [SCHEMAS, 'type: [string, "null"], maxLength', "type: string, maxLength"],
    "- `letters request LetterInput.text: no null` (POST /letters)",
  ],
  "a text that must be shorter": [
    [SCHEMAS, "maxLength: 100", "maxLength: 99"],
    "- `letters request LetterInput.text: maxLength 99` (POST /letters)",
  ],
  "a status that is gone": [
    [OPENAPI, '"404"', '"410"'],
    "- `letters POST /letters reply 404: no longer given` (POST /letters)",
  ],
  "a new status of success": [
    [OPENAPI, '        "404"', '        "202": {}\n        "404"'],
    "- `letters POST /letters reply 202: not declared before` (POST /letters)",
  ],
  "a header that is gone": [
    [OPENAPI, "x-request-id", "x-id"],
    "- `letters POST /letters reply 200 header x-request-id: no longer sent` (POST /letters)",
  ],
  "a kind of reply that became another": [
    [OPENAPI, "text/event-stream", "application/x-ndjson"],
    "- `letters POST /letters reply 200 application/x-ndjson: not declared before` (POST /letters)",
    "- `letters POST /letters reply 200 text/event-stream: no longer given` (POST /letters)",
  ],
  "a member of a reply that may be missing": [
    [SCHEMAS, "required: [id, status]", "required: [id]"],
    `- \`letters reply Letter.status: may be left out\` ${LETTER_USERS}`,
  ],
  "a member inside of a reply that is gone": [
    [SCHEMAS, "required: [name], properties: { name:", "required: [nick], properties: { nick:"],
    `- \`letters reply Letter.author.name: may be left out\` ${LETTER_USERS}`,
  ],
  "a null in a reply": [
    [SCHEMAS, "id: { type: string,", 'id: { type: [string, "null"],'],
    `- \`letters reply Letter.id: no null\` ${LETTER_USERS}`,
  ],
  "a fraction in a reply": [
    [SCHEMAS, "weight: { type: integer }", "weight: { type: number }"],
    `- \`letters reply Letter.weight: whole numbers only\` ${LETTER_USERS}`,
  ],
  "a new value in a reply": [
    [SCHEMAS, "[sent, lost]", "[sent, lost, burnt]"],
    `- \`letters reply Letter.status: no "burnt"\` ${LETTER_USERS}`,
  ],
  "another type in a reply": [
    [SCHEMAS, "count: { type: integer }", "count: { type: string }"],
    "- `letters reply Ack.count: no string` (POST /letters, tell)",
    "- `letters request Ack.count: no number` (hear)",
  ],
  "a new type of event": [
    [
      SCHEMAS,
      "Event: { oneOf: [",
      'Lost: { type: object, required: [type], properties: { type: { const: lost } } }\nEvent: { oneOf: [{ $ref: "#/Lost" }, ',
    ],
    "- `letters reply lost: not sent before` (POST /letters)",
  ],
  "a new message": [
    [
      STREAM,
      'messages: [{ $ref: "#/channels/post/messages/Sent" }',
      'messages: [{ payload: { $ref: "../schemas/letters.yaml#/Note" } }, { $ref: "#/channels/post/messages/Sent" }',
    ],
    "- `letters reply note: not sent before` (tell)",
  ],
  "a stream at another address": [
    [STREAM, "address: /post", "address: /mail"],
    "- `letters hear address: no longer /post` (hear)",
    "- `letters tell address: no longer /post` (tell)",
  ],
  "a direction of a stream that is gone": [
    [STREAM, "  hear:", "  listen:"],
    "- `letters hear: no longer served` (hear)",
  ],
  "a message that is not understood any more": [
    [STREAM, 'messages: [{ $ref: "#/channels/post/messages/Ack" }] }', "messages: [] }"],
    "- `letters request Ack: no such object` (hear)",
  ],
  "a type of what is inside of a reply that is gone": [
    [SCHEMAS, '{ $ref: "#/Stamp" }', '{ $ref: "#/Note" }'],
    `- \`letters reply Stamp: no longer sent\` ${LETTER_USERS}`,
  ],
  "a message that is not sent any more": [
    [STREAM, ', { $ref: "#/channels/post/messages/Ack" }]', "]"],
    "- `letters reply Ack: no longer sent` (tell)",
  ],
};

const HARMLESS: Readonly<Record<string, Edit>> = {
  "a new operation": [OPENAPI, "    get:\n", "    delete: { responses: {} }\n    get:\n"],
  "a new parameter that may be left out": [
    OPENAPI,
    "        - {",
    "        - { name: ink, in: query, schema: {} }\n        - {",
  ],
  "a new member of a request that may be left out": [SCHEMAS, "    color:", "    ink: { type: string }\n    color:"],
  "a new value in a request": [SCHEMAS, "[black, blue]", "[black, blue, red]"],
  "a member of a request that may be left out now": [SCHEMAS, "required: [text]", "required: []"],
  "a text that may be longer": [SCHEMAS, "maxLength: 100", "maxLength: 101"],
  "a new status that tells of an error": [OPENAPI, '        "404"', '        "409": {}\n        "404"'],
  "a new member of a reply": [SCHEMAS, "    status:", "    seal: { type: string }\n    status:"],
  "a new member inside of a reply": [SCHEMAS, "properties: { name:", "properties: { age: { type: integer }, name:"],
  "a member that is always sent now": [SCHEMAS, "required: [id, status]", "required: [id, status, weight]"],
  "a value that is not sent any more": [SCHEMAS, "[sent, lost]", "[sent]"],
  "a longer text in a reply": [SCHEMAS, "maxLength: 10 }", "maxLength: 20 }"],
  "a new type of what is inside of a reply": [
    SCHEMAS,
    "things: { type: array, items: { oneOf: [",
    'things: { type: array, items: { oneOf: [{ $ref: "#/Note" }, ',
  ],
  "a schema with another name": [SCHEMAS, 'Event: { oneOf: [{ $ref: "#/Sent" }', 'Event: { anyOf: [{ $ref: "#/Sent" }'],
  "other words": [OPENAPI, "operationId: getLetter", "operationId: getLetter\n      description: Reads a letter."],
};

describe("since a release", () => {
  test.each(Object.entries(BREAKING))("%s breaks", (_title, [edit, ...lines]) => {
    const repository = releaseLetters();
    repository.edit(...edit);
    expect(compareWithRelease(repository.root)).toMatchObject({ missing: lines, unneeded: [], isSkipped: false });
  });

  test.each(Object.entries(HARMLESS))("%s breaks nothing", (_title, edit) => {
    const repository = releaseLetters();
    repository.edit(...edit);
    expect(compareWithRelease(repository.root)).toMatchObject({ missing: [], unneeded: [] });
  });
});

describe("a page in docs/decisions/", () => {
  const ENTRY = "letters request LetterInput.text: maxLength 99";
  const page = (...entries: readonly string[]): string =>
    `# Letters get shorter\n\n**Context.** Paper.\n\n**Breaks.** Shorten them:\n\n${entries
      .map((entry) => `- \`${entry}\` as nobody reads on\n`)
      .join("")}\n**Consequence.** None.\n\n- \`not an entry\`\n`;
  const shorten = (repository: Repository): void => repository.edit(SCHEMAS, "maxLength: 100", "maxLength: 99");

  test("announces breaking changes", () => {
    const repository = releaseLetters();
    shorten(repository);
    repository.write("docs/decisions/short.md", page(ENTRY));
    expect(compareWithRelease(repository.root)).toEqual({
      summary: "Compatibility: 1 breaking changes since v1.0.0, 1 announced",
      isSkipped: false,
      missing: [],
      unneeded: [],
    });
  });

  test("announces nothing else", () => {
    const repository = releaseLetters();
    shorten(repository);
    repository.write("docs/decisions/short.md", page("letters request LetterInput.text: maxLength 98"));
    expect(compareWithRelease(repository.root)).toMatchObject({
      missing: [`- \`${ENTRY}\` (POST /letters)`],
      unneeded: ["docs/decisions/short.md: letters request LetterInput.text: maxLength 98"],
    });
  });

  test("of an earlier release does not announce breaks of the next", () => {
    const repository = releaseLetters();
    repository.write("docs/decisions/short.md", page(ENTRY));
    repository.commit("v1.1.0");
    shorten(repository);
    expect(compareWithRelease(repository.root)).toMatchObject({
      missing: [`- \`${ENTRY}\` (POST /letters)`],
      unneeded: [],
    });
  });
});

describe("the last release", () => {
  test("is the highest version before the current commit", () => {
    const repository = releaseLetters();
    for (const tag of ["v1.2.0-rc.1", "v1.2.0", "v1.10.0", "v2-draft", "nightly"]) repository.commit(tag);
    expect(compareWithRelease(repository.root).summary).toContain("since v1.10.0,");
  });

  test("is none before the first", () => {
    const repository = makeRepository();
    repository.commit("nightly");
    expect(compareWithRelease(repository.root)).toEqual({
      summary: "Compatibility: nothing was compared: no release is tagged yet",
      isSkipped: true,
      missing: [],
      unneeded: [],
    });
  });

  test("is none in unpacked sources, wherever they are", () => {
    const repository = releaseLetters();
    const summary = "Compatibility: nothing was compared: this is not a git checkout";
    expect(compareWithRelease(join(repository.root, "specs")).summary).toBe(summary);
    rmSync(join(repository.root, ".git"), { recursive: true });
    expect(compareWithRelease(repository.root)).toMatchObject({ summary, isSkipped: true });
  });
});

describe("the current contract as a release", () => {
  const EVENTS = "specs/schemas/events.yaml";
  const release = (): Repository => {
    const repository = makeRepository();
    repository.copy(join(ROOT, "specs"), "specs");
    repository.commit("v1.0.0");
    return repository;
  };

  test("is compatible with itself", () => {
    expect(compareWithRelease(release().root)).toMatchObject({ missing: [], isSkipped: false });
  });

  test.each<[Edit, string]>([
    [
      ["specs/schemas/responses.yaml", "    top_logprobs:", "    top_log_probs:"],
      "request CreateResponseRequest.top_logprobs: no such member",
    ],
    [
      [EVENTS, "const: response.output_text.delta", "const: response.text.delta"],
      "reply ResponseTextDeltaEvent: no longer sent",
    ],
    [["specs/schemas/stt.yaml", "const: flush", "const: flash"], "request FlushMessage: no such object"],
  ])("misses %j", (edit, entry) => {
    const repository = release();
    repository.edit(...edit);
    expect(compareWithRelease(repository.root).missing.join("\n")).toContain(entry);
  });
});
