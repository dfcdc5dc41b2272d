import { MatchersV3 } from "@pact-foundation/pact";
import { toFile } from "openai";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { formOf } from "./form.fixture.ts";
import { checkInteraction } from "./interaction.fixture.ts";
import { checkRefusal } from "./refusal.fixture.ts";

const { boolean, eachLike, fromProviderState, integer, regex, string } = MatchersV3;

const FILE_ID = "file-0123456789abcdef0067000000012345";
const UNKNOWN_ID = "file-ffffffffffffffff0067000000ffffff";
const TEXT = "Hello.";
const FILE = {
  object: "file",
  id: FILE_ID,
  purpose: "user_data",
  filename: "hello.txt",
  bytes: 6,
  created_at: 1_795_000_000,
  status: "processed",
} as const;
const EXPIRES_AT = FILE.created_at + 3600;
const SHAPE = {
  ...FILE,
  id: regex("^file-.+$", FILE_ID),
  created_at: integer(FILE.created_at),
  status: regex("^(uploaded|processed)$", FILE.status),
};

const path = fromProviderState("/v1/files/${file_id}", `/v1/files/${FILE_ID}`);
const contentPath = fromProviderState("/v1/files/${file_id}/content", `/v1/files/${FILE_ID}/content`);
const given = ["an uploaded file"] as const;
const UPLOAD = { method: "POST", path: "/v1/files" } as const;
const purpose = "user_data";

describe("a client that keeps files", () => {
  test("uploads one", async () => {
    verifies("contract.parity.same-checks-both-providers", "files.upload.bytes-unchanged");
    await checkAnswer(
      {
        ...UPLOAD,
        request: "to upload a file",
        text: formOf({ purpose }, { filename: FILE.filename, text: TEXT }),
        reply: { json: SHAPE },
      },
      FILE,
      {
        official: async (client) => client.files.create({ purpose, file: await officialFile(TEXT) }),
        own: (client) => client.createFile({ purpose, file: ownFile(TEXT) }),
      },
    );
  });

  test("uploads one that expires", async () => {
    const expires_after = { anchor: "created_at", seconds: 3600 } as const;
    const parts = { purpose, "expires_after[anchor]": "created_at", "expires_after[seconds]": "3600" };
    await checkAnswer(
      {
        ...UPLOAD,
        request: "to upload a file that expires",
        text: formOf(parts, { filename: FILE.filename, text: TEXT }),
        reply: { json: { ...SHAPE, expires_at: integer(EXPIRES_AT) } },
      },
      { ...FILE, expires_at: EXPIRES_AT },
      {
        official: async (client) => client.files.create({ purpose, expires_after, file: await officialFile(TEXT) }),
        own: (client) => client.createFile({ purpose, expires_after, file: ownFile(TEXT) }),
      },
    );
  });

  test("lists those of a purpose", async () => {
    verifies("files.list.order-and-pages");
    const query = { purpose, limit: 1, order: "desc" } as const;
    const list = { object: "list", data: [FILE], first_id: FILE_ID, has_more: false, last_id: FILE_ID } as const;
    const ends = { first_id: SHAPE.id, has_more: boolean(false), last_id: SHAPE.id };
    await checkAnswer(
      {
        given,
        request: "for the files of a purpose",
        method: "GET",
        path: "/v1/files",
        query: { ...query, limit: "1" },
        reply: { json: { object: "list", data: eachLike({ ...SHAPE, filename: string(FILE.filename) }), ...ends } },
      },
      { data: list.data },
      { official: (client) => client.files.list(query), own: (client) => client.listFiles(query) },
    );
  });

  test("reads what is known about one", async () => {
    await checkAnswer({ given, request: "for a file", method: "GET", path, reply: { json: SHAPE } }, FILE, {
      official: (client) => client.files.retrieve(FILE_ID),
      own: (client) => client.getFile(FILE_ID),
    });
  });

  /** The reference refuses to return files of some purposes. */
  test("gets back what it uploaded", async () => {
    verifies("files.upload.bytes-unchanged");
    const contentType = { example: "application/octet-stream", pattern: "^application/octet-stream$" };
    await checkInteraction(
      {
        given: ["an uploaded file", "our own server"],
        request: "for the content of a file",
        method: "GET",
        path: contentPath,
        reply: { text: { example: TEXT, pattern: "^Hello\\.$", contentType } },
      },
      {
        official: async (client) => expect(await (await client.files.content(FILE_ID)).text()).toBe(TEXT),
        own: async (client) => expect(Buffer.from(await client.downloadFile(FILE_ID)).toString()).toBe(TEXT),
      },
    );
  });

  test("removes one", async () => {
    const deleted = { id: FILE_ID, object: "file", deleted: true } as const;
    await checkAnswer(
      { given, request: "to remove a file", method: "DELETE", path, reply: { json: { ...deleted, id: SHAPE.id } } },
      deleted,
      { official: (client) => client.files.delete(FILE_ID), own: (client) => client.deleteFile(FILE_ID) },
    );
  });
});

describe("a client that looks for a file", () => {
  const unknown = { status: 404, param: "id", message: string(`No such File object: ${UNKNOWN_ID}`) };

  test("gets 404 where it never was", async () => {
    await checkRefusal({ request: "for an unknown file", method: "GET", path: `/v1/files/${UNKNOWN_ID}` }, unknown, {
      official: (client) => client.files.retrieve(UNKNOWN_ID),
      own: (client) => client.getFile(UNKNOWN_ID),
    });
  });

  test("gets 404 where it is no more", async () => {
    await checkRefusal({ given: ["a deleted file"], request: "for a deleted file", method: "GET", path }, unknown, {
      official: (client) => client.files.retrieve(FILE_ID),
      own: (client) => client.getFile(FILE_ID),
    });
  });

  test("gets 404 for its content", async () => {
    await checkRefusal(
      { request: "for the content of an unknown file", method: "GET", path: `/v1/files/${UNKNOWN_ID}/content` },
      unknown,
      {
        official: (client) => client.files.content(UNKNOWN_ID),
        own: (client) => client.downloadFile(UNKNOWN_ID),
      },
    );
  });

  test("gets 404 when it removes what is not there", async () => {
    await checkRefusal(
      { request: "to remove an unknown file", method: "DELETE", path: `/v1/files/${UNKNOWN_ID}` },
      unknown,
      { official: (client) => client.files.delete(UNKNOWN_ID), own: (client) => client.deleteFile(UNKNOWN_ID) },
    );
  });
});

describe("a client whose upload is refused", () => {
  test("because the file is empty, gets 400", async () => {
    await checkRefusal(
      {
        ...UPLOAD,
        given: ["our own server"],
        request: "to upload an empty file",
        text: formOf({ purpose }, { filename: FILE.filename, text: "" }),
      },
      { status: 400, param: "file", message: string("File is empty.") },
      {
        official: async (client) => client.files.create({ purpose, file: await officialFile("") }),
        own: (client) => client.createFile({ purpose, file: ownFile("") }),
      },
    );
  });

  test("because the file is larger than the server takes, gets 413", async () => {
    const text = "x".repeat(4000);
    await checkRefusal(
      {
        ...UPLOAD,
        given: ["a server that takes little"],
        request: "to upload a large file",
        text: formOf({ purpose }, { filename: FILE.filename, text }),
      },
      { status: 413, code: "request_too_large", param: null, message: string("The request body is too large.") },
      {
        official: async (client) => client.files.create({ purpose, file: await officialFile(text) }),
        own: (client) => client.createFile({ purpose, file: ownFile(text) }),
      },
    );
  });

  test("because its parts are nested too deep, gets 400", async () => {
    const text = formOf(
      { purpose, "expires_after[anchor][name]": "created_at" },
      { filename: FILE.filename, text: TEXT },
    );
    await checkRefusal(
      { ...UPLOAD, given: ["our own server"], request: "to upload a form that nests too deep", text },
      { status: 400, code: "invalid_form", param: "expires_after[anchor][name]", message: string("Invalid form: no.") },
      {
        official: (client) =>
          client.post("/files", { body: text.example, headers: { "content-type": text.contentType.example } }),
      },
    );
  });

  test("because it does not say what for, gets 400", async () => {
    const text = formOf({}, { filename: FILE.filename, text: TEXT });
    await checkRefusal(
      { ...UPLOAD, given: ["our own server"], request: "to upload a file without a purpose", text },
      { status: 400, code: "missing_required_parameter", param: "purpose", message: string("Missing 'purpose'.") },
      {
        official: (client) =>
          client.post("/files", { body: text.example, headers: { "content-type": text.contentType.example } }),
      },
    );
  });
});

function officialFile(text: string) {
  return toFile(Buffer.from(text), FILE.filename, { type: "text/plain" });
}

function ownFile(text: string) {
  return { bytes: new Uint8Array(Buffer.from(text)), filename: FILE.filename, mimeType: "text/plain" };
}
