import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { PNG_URL } from "./example-media.fixture.ts";
import { EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";
import { checkRefusal, checkRefusedCreate, type RefusedCreate, type RefusedCreates } from "./refusal.fixture.ts";

const { fromProviderState, string } = MatchersV3;
const PICTURE = "input[0].content[0]";
const FILE_ID = "file-0123456789abcdef0067000000012345";
const UNKNOWN_ID = "file-ffffffffffffffff0067000000ffffff";
/** A URL at which no server listens. */
const UNREACHABLE_URL = "http://127.0.0.1:9/hello.pdf";

type Input = NonNullable<CreateResponseRequest["input"]>;

function picture(source: { readonly image_url: string } | { readonly file_id: string }): Input {
  return [{ role: "user", content: [{ type: "input_image", detail: "low", ...source }] }];
}

function file(source: Readonly<Record<"file_data" | "filename", string>> | { readonly file_url: string }): Input {
  return [{ role: "user", content: [{ type: "input_file", ...source }] }];
}

/** Expects the reference's code with our message, because the reference's message is not known. */
function refused(input: Input, code: string, member: string): RefusedCreate {
  const param = member === "" ? "input" : `${PICTURE}.${member}`;
  return {
    given: ["our own server"],
    asked: { input },
    refusal: { code, param, message: string(`It cannot be used: ${code}.`) },
  };
}

const PICTURES: RefusedCreates = {
  "with the picture of no web address": refused(
    picture({ image_url: "ftp://a/b.png" }),
    "invalid_image_url",
    "image_url",
  ),
  "with a picture in broken base64": refused(
    picture({ image_url: "data:image/png;base64,%%%" }),
    "invalid_base64_image",
    "image_url",
  ),
  "with an empty picture": refused(picture({ image_url: "data:image/png;base64," }), "empty_image_file", "image_url"),
  "with a picture that is none": refused(
    picture({ image_url: "data:image/png;base64,AAAA" }),
    "invalid_image_format",
    "image_url",
  ),
  "with a picture of a kind that is not taken": refused(
    picture({
      image_url:
        "data:image/bmp;base64,Qk06AAAAAAAAADYAAAAoAAAAAQAAAAEAAAABABgAAAAAAAQAAAATCwAAEwsAAAAAAAAAAAAAAAD/AA==",
    }),
    "unsupported_image_media_type",
    "image_url",
  ),
  "with a picture that is too large": refused(
    picture({ image_url: PNG_URL.slice(0, -4) + "A".repeat(1600) }),
    "image_too_large",
    "image_url",
  ),
  "with an uploaded picture that is not there": refused(
    picture({ file_id: UNKNOWN_ID }),
    "image_file_not_found",
    "file_id",
  ),
};

const FILES: RefusedCreates = {
  "with a file of no web address": refused(file({ file_url: "ftp://a/b.pdf" }), "invalid_file_url", "file_url"),
  "with an empty file": refused(
    file({ filename: "empty.txt", file_data: "data:text/plain;base64," }),
    "empty_file",
    "",
  ),
  "with a file that is too large": refused(
    file({ filename: "large.txt", file_data: `data:text/plain;base64,${"QUFB".repeat(400)}` }),
    "file_too_large",
    "",
  ),
  "with a file that cannot be fetched": {
    ...refused(file({ file_url: UNREACHABLE_URL }), "failed_to_download_file", "file_url"),
    given: ["a server that cannot reach what it is told to fetch"],
  },
  "with an uploaded file that is not there": {
    ...refused([{ role: "user", content: [{ type: "input_file", file_id: UNKNOWN_ID }] }], "file_not_found", "file_id"),
  },
  "with a file that is no PDF": {
    given: ["our own server"],
    asked: { input: file({ filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" }) },
    refusal: { code: "unsupported_file", param: "input", message: string("The file 'a.pdf' is no PDF.") },
  },
  "with a recording as a file": {
    asked: { input: file({ filename: "a.mp3", file_data: "data:audio/mpeg;base64,AAAA" }) },
    refusal: {
      code: "invalid_value",
      param: `${PICTURE}.file_data`,
      message: string("Invalid file data: expected a base64-encoded data URL, but got 'audio/mpeg'."),
    },
  },
};

describe("a client is told what is wrong with", () => {
  describe("its pictures:", () => {
    verifies("contract.parity.same-checks-both-providers");
    test.each(Object.entries(PICTURES))("a request %s", checkRefusedCreate);

    test("a request with an uploaded picture that is too large", async () => {
      const input = picture({ file_id: FILE_ID });
      const source = { type: "input_image", detail: "low", file_id: fromProviderState("${file_id}", FILE_ID) };
      await checkRefusal(
        {
          given: ["a chat model", "an uploaded picture that is too large"],
          request: "with an uploaded picture that is too large",
          method: "POST",
          path: "/v1/responses",
          body: { model: theModel, input: [{ role: "user", content: [source] }] },
        },
        { status: 400, code: "image_file_too_large", param: `${PICTURE}.file_id`, message: string("It is too large.") },
        {
          official: (client) => client.post("/responses", { body: { model: EXAMPLE_MODEL, input } }),
          own: (client) => client.createResponse({ model: EXAMPLE_MODEL, input }),
        },
      );
    });
  });

  describe("its files:", () => {
    verifies("errors.catalogue.unusable-file", "errors.catalogue.file-data-not-a-data-url");
    test.each(Object.entries(FILES))("a request %s", checkRefusedCreate);
  });
});
