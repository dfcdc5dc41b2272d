import { MatchersV3 } from "@pact-foundation/pact";
import { toFile } from "openai";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { shapeOf } from "../shape.fixture.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { formOf } from "./form.fixture.ts";
import { checkInteraction } from "./interaction.fixture.ts";
import { checkRefusal } from "./refusal.fixture.ts";

const { boolean, fromProviderState, regex, string } = MatchersV3;

const CONTAINER_ID = "cntr_0123456789abcdef0067000000012345";
const FILE_ID = "cfile_0123456789abcdef0067000000012345";
const UPLOAD_ID = "file-0123456789abcdef0067000000012345";
const UNKNOWN_CONTAINER = "cntr_ffffffffffffffff0067000000ffffff";
const UNKNOWN_FILE = "cfile_ffffffffffffffff0067000000ffffff";
const UNKNOWN_UPLOAD = "file-ffffffffffffffff0067000000ffffff";
const TEXT = "1,2";
const IN_CONTAINER = { container_id: CONTAINER_ID };

const containers = "/v1/containers";
const containerPath = pathOf("");
const filesPath = pathOf("/files");
const filePath = pathOf("/files/${file_id}");
const contentPath = pathOf("/files/${file_id}/content");
/** The verifier replaces it with the uploaded file of the state. */
const theUpload = fromProviderState("${file_id}", UPLOAD_ID);

function pathOf(rest: string) {
  const path = `${containers}/\${container_id}${rest}`;
  return fromProviderState(path, path.replace("${container_id}", CONTAINER_ID).replace("${file_id}", FILE_ID));
}

const CONTAINER = {
  id: CONTAINER_ID,
  object: "container",
  created_at: 1_795_000_000,
  status: "running",
  expires_after: { anchor: "last_active_at", minutes: 20 },
  last_active_at: 1_795_000_000,
  memory_limit: "1g",
  name: "work",
  network_policy: { type: "disabled" },
} as const;
const FILE = {
  id: FILE_ID,
  object: "container.file",
  bytes: 3,
  container_id: CONTAINER_ID,
  created_at: 1_795_000_000,
  path: "/mnt/data/sums.csv",
  source: "user",
} as const;
/** The reference may put characters before the name. */
const FILE_SHAPE = { ...Object(shapeOf(FILE)), path: regex("^/mnt/data/.*sums\\.csv$", FILE.path) };
const COPY = { ...FILE, bytes: 6, path: "/mnt/data/hello.txt" };
const COPY_SHAPE = { ...Object(shapeOf(COPY)), path: regex("^/mnt/data/.*hello\\.txt$", COPY.path) };

function listShape(one: { readonly id: unknown }) {
  return { object: "list", data: [one], first_id: one.id, has_more: boolean(false), last_id: one.id };
}

const given = ["a container that holds a file"] as const;

describe("a client that keeps containers", () => {
  test("makes one", async () => {
    verifies("containers.create.object-of-the-reference");
    const body = {
      name: "work",
      expires_after: { anchor: "last_active_at" as const, minutes: 5 },
      memory_limit: "1g" as const,
      network_policy: { type: "disabled" as const },
    };
    const answer = { ...CONTAINER, expires_after: body.expires_after };
    await checkAnswer(
      { request: "to make a container", method: "POST", path: containers, body, reply: { json: shapeOf(answer) } },
      answer,
      { official: (client) => client.containers.create(body), own: (client) => client.createContainer(body) },
    );
  });

  test("makes one with a copy of a file", async () => {
    verifies("containers.files.copies-of-uploads");
    const body = { name: "work", file_ids: [UPLOAD_ID] };
    await checkAnswer(
      {
        given: ["an uploaded file"],
        request: "to make a container with a file",
        method: "POST",
        path: containers,
        body: { ...body, file_ids: [theUpload] },
        reply: { json: shapeOf(CONTAINER) },
      },
      CONTAINER,
      { official: (client) => client.containers.create(body), own: (client) => client.createContainer(body) },
    );
  });

  test("lists them", async () => {
    verifies("containers.list.order-and-pages");
    const query = { limit: 1, order: "desc" } as const;
    await checkAnswer(
      {
        given,
        request: "for containers",
        method: "GET",
        path: containers,
        query: { limit: "1", order: "desc" },
        reply: { json: listShape({ ...Object(shapeOf(CONTAINER)) }) },
      },
      { data: [CONTAINER] },
      { official: (client) => client.containers.list(query), own: (client) => client.listContainers(query) },
    );
  });

  test("reads what is known about one", async () => {
    await checkAnswer(
      {
        given,
        request: "for a container",
        method: "GET",
        path: containerPath,
        reply: { json: shapeOf(CONTAINER) },
      },
      CONTAINER,
      {
        official: (client) => client.containers.retrieve(CONTAINER_ID),
        own: (client) => client.getContainer(CONTAINER_ID),
      },
    );
  });

  test("removes one", async () => {
    verifies("containers.delete.erases");
    const deleted = { id: CONTAINER_ID, object: "container.deleted", deleted: true } as const;
    await checkAnswer(
      {
        given: ["a container"],
        request: "to remove a container",
        method: "DELETE",
        path: containerPath,
        reply: { json: shapeOf(deleted) },
      },
      deleted,
      {
        official: (client) => client.containers.delete(CONTAINER_ID),
        own: (client) => client.deleteContainer(CONTAINER_ID),
      },
    );
  });
});

describe("a client that keeps files in a container", () => {
  test("sends one", async () => {
    verifies("containers.files.upload-and-download");
    await checkAnswer(
      {
        given: ["a container"],
        request: "to put a file into a container",
        method: "POST",
        path: filesPath,
        text: formOf({}, { filename: "sums.csv", text: TEXT }),
        reply: { json: FILE_SHAPE },
      },
      FILE,
      {
        official: async (client) =>
          client.containers.files.create(CONTAINER_ID, {
            file: await toFile(Buffer.from(TEXT), "sums.csv", { type: "text/plain" }),
          }),
        own: (client) =>
          client.createContainerFile(CONTAINER_ID, {
            file: { bytes: new Uint8Array(Buffer.from(TEXT)), filename: "sums.csv", mimeType: "text/plain" },
          }),
      },
    );
  });

  test("copies an uploaded one", async () => {
    verifies("containers.files.copies-of-uploads");
    await checkAnswer(
      {
        given: ["a container", "an uploaded file"],
        request: "to copy an uploaded file into a container",
        method: "POST",
        path: filesPath,
        body: { file_id: theUpload },
        reply: { json: COPY_SHAPE },
      },
      COPY,
      {
        official: (client) => client.post(`/containers/${CONTAINER_ID}/files`, { body: { file_id: UPLOAD_ID } }),
      },
    );
  });

  test("lists them", async () => {
    const query = { limit: 5, order: "asc" } as const;
    await checkAnswer(
      {
        given,
        request: "for the files of a container",
        method: "GET",
        path: filesPath,
        query: { limit: "5", order: "asc" },
        reply: { json: listShape(FILE_SHAPE) },
      },
      { data: [FILE] },
      {
        official: (client) => client.containers.files.list(CONTAINER_ID, query),
        own: (client) => client.listContainerFiles(CONTAINER_ID, query),
      },
    );
  });

  test("reads what is known about one", async () => {
    await checkAnswer(
      { given, request: "for a file of a container", method: "GET", path: filePath, reply: { json: FILE_SHAPE } },
      FILE,
      {
        official: (client) => client.containers.files.retrieve(FILE_ID, IN_CONTAINER),
        own: (client) => client.getContainerFile(CONTAINER_ID, FILE_ID),
      },
    );
  });

  test("gets back the bytes of one", async () => {
    verifies("containers.files.upload-and-download");
    const contentType = { example: "application/octet-stream", pattern: "^.+$" };
    await checkInteraction(
      {
        given,
        request: "for the content of a file of a container",
        method: "GET",
        path: contentPath,
        reply: { text: { example: TEXT, pattern: "^1,2$", contentType } },
      },
      {
        official: async (client) => {
          const content = await client.containers.files.content.retrieve(FILE_ID, IN_CONTAINER);
          expect(await content.text()).toBe(TEXT);
        },
        own: async (client) => {
          const content = await client.downloadContainerFile(CONTAINER_ID, FILE_ID);
          expect(Buffer.from(content).toString()).toBe(TEXT);
        },
      },
    );
  });

  test("removes one", async () => {
    const deleted = { id: FILE_ID, object: "container.file.deleted", deleted: true } as const;
    await checkAnswer(
      {
        given,
        request: "to remove a file from a container",
        method: "DELETE",
        path: filePath,
        reply: { json: shapeOf(deleted) },
      },
      deleted,
      {
        official: (client) => client.containers.files.delete(FILE_ID, IN_CONTAINER),
        own: (client) => client.deleteContainerFile(CONTAINER_ID, FILE_ID),
      },
    );
  });
});

describe("a client that looks for what is in no container", () => {
  const unknown = { status: 404, param: null } as const;
  const withoutContainer = { ...unknown, message: string(`Container with id '${UNKNOWN_CONTAINER}' not found.`) };
  const unknownPath = `${containers}/${UNKNOWN_CONTAINER}`;
  const message = regex(
    "^No file found with id 'cfile_f+.+' in container 'cntr_.+'\\.$",
    `No file found with id '${UNKNOWN_FILE}' in container '${CONTAINER_ID}'.`,
  );

  test("gets 404 for a container", async () => {
    verifies("containers.get.unknown-is-404");
    await checkRefusal({ request: "for an unknown container", method: "GET", path: unknownPath }, withoutContainer, {
      official: (client) => client.containers.retrieve(UNKNOWN_CONTAINER),
      own: (client) => client.getContainer(UNKNOWN_CONTAINER),
    });
  });

  test("gets 404 when it removes a container", async () => {
    verifies("containers.get.unknown-is-404");
    await checkRefusal(
      { request: "to remove an unknown container", method: "DELETE", path: unknownPath },
      withoutContainer,
      {
        official: (client) => client.containers.delete(UNKNOWN_CONTAINER),
        own: (client) => client.deleteContainer(UNKNOWN_CONTAINER),
      },
    );
  });

  test("gets 404 for the files of a container", async () => {
    verifies("containers.get.unknown-is-404");
    await checkRefusal(
      { request: "for the files of an unknown container", method: "GET", path: `${unknownPath}/files` },
      withoutContainer,
      {
        official: (client) => client.containers.files.list(UNKNOWN_CONTAINER),
        own: (client) => client.listContainerFiles(UNKNOWN_CONTAINER),
      },
    );
  });

  test("gets 404 for a file", async () => {
    verifies("containers.get.unknown-is-404");
    await checkRefusal(
      {
        given: ["a container", "our own server"],
        request: "for a file that a container does not hold",
        method: "GET",
        path: pathOf(`/files/${UNKNOWN_FILE}`),
      },
      { ...unknown, message },
      {
        official: (client) => client.containers.files.retrieve(UNKNOWN_FILE, IN_CONTAINER),
        own: (client) => client.getContainerFile(CONTAINER_ID, UNKNOWN_FILE),
      },
    );
  });

  test("gets 404 for the content of a file", async () => {
    verifies("containers.get.unknown-is-404");
    await checkRefusal(
      {
        given: ["a container", "our own server"],
        request: "for the content of a file that a container does not hold",
        method: "GET",
        path: pathOf(`/files/${UNKNOWN_FILE}/content`),
      },
      { ...unknown, message },
      {
        official: (client) => client.containers.files.content.retrieve(UNKNOWN_FILE, IN_CONTAINER),
        own: (client) => client.downloadContainerFile(CONTAINER_ID, UNKNOWN_FILE),
      },
    );
  });

  test("gets 404 when it removes a file", async () => {
    verifies("containers.get.unknown-is-404");
    await checkRefusal(
      {
        given: ["a container", "our own server"],
        request: "to remove a file that a container does not hold",
        method: "DELETE",
        path: pathOf(`/files/${UNKNOWN_FILE}`),
      },
      { ...unknown, message },
      {
        official: (client) => client.containers.files.delete(UNKNOWN_FILE, IN_CONTAINER),
        own: (client) => client.deleteContainerFile(CONTAINER_ID, UNKNOWN_FILE),
      },
    );
  });

  test("gets 404 for an uploaded file that is to be copied", async () => {
    verifies("containers.files.copies-of-uploads");
    const body = { name: "work", file_ids: [UNKNOWN_UPLOAD] };
    await checkRefusal(
      {
        given: ["our own server"],
        request: "to make a container with an unknown file",
        method: "POST",
        path: containers,
        body,
      },
      { status: 404, param: "file_ids", message: string(`No such File object: ${UNKNOWN_UPLOAD}`) },
      { official: (client) => client.containers.create(body), own: (client) => client.createContainer(body) },
    );
  });
});

describe("a client whose request on a container is refused", () => {
  test.each([
    ["network_policy", { network_policy: { type: "allowlist" as const, allowed_domains: ["example.com"] } }],
    ["memory_limit", { memory_limit: "64g" as const }],
  ])("because a container cannot have its %s here, gets 400", async (param, member) => {
    verifies("containers.create.refused-by-name");
    const body = { name: "work", ...member };
    await checkRefusal(
      {
        given: ["our own server"],
        request: `to make a container with ${param}`,
        method: "POST",
        path: containers,
        body,
      },
      { status: 400, code: "unsupported_parameter", param, message: string(`Unsupported parameter: '${param}'.`) },
      { official: (client) => client.containers.create(body), own: (client) => client.createContainer(body) },
    );
  });

  test("because it sends neither a file nor the id of one, gets 400", async () => {
    await checkRefusal(
      {
        given: ["a container", "our own server"],
        request: "to put nothing into a container",
        method: "POST",
        path: filesPath,
        body: {},
      },
      { status: 400, code: "missing_required_parameter", param: "file_id", message: string("Missing 'file_id'.") },
      { official: (client) => client.post(`/containers/${CONTAINER_ID}/files`, { body: {} }) },
    );
  });

  test("because it sends a file and the id of another, gets 400", async () => {
    const text = formOf({ file_id: UPLOAD_ID }, { filename: "sums.csv", text: TEXT });
    await checkRefusal(
      {
        given: ["a container", "our own server"],
        request: "to put a file and an uploaded file into a container",
        method: "POST",
        path: filesPath,
        text,
      },
      { status: 400, code: "mutually_exclusive_parameters", param: null, message: string("Mutually exclusive.") },
      {
        official: (client) =>
          client.post(`/containers/${CONTAINER_ID}/files`, {
            body: text.example,
            headers: { "content-type": text.contentType.example },
          }),
      },
    );
  });
});
