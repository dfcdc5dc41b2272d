import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../tests/kit/temporary-folder.ts";
import { readEnvironment } from "./read-environment.ts";
import { FILE_NAMES } from "./variable-names.ts";

function temporaryFile(text: string): string {
  const folder = temporaryFolder();
  const file = join(folder, ".env");
  writeFileSync(file, text);
  return file;
}

test("the environment wins over the file", () => {
  const file = temporaryFile('# Ours.\nPORT=1000\nHOST="0.0.0.0"\n');
  expect(readEnvironment(file, { PORT: "2000" })).toEqual({
    PORT: "2000",
    HOST: "0.0.0.0",
    [FILE_NAMES]: ["HOST", "PORT"],
  });
});

test("credentials of a systemd service win over the file, and the environment wins over them", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "antiphon_API_KEYS"), "sk-one\n\nsk-two=acme/web\n");
  writeFileSync(join(folder, "MODEL_API_KEY"), "sk-model\n");
  writeFileSync(join(folder, "HOST"), "0.0.0.0");
  writeFileSync(join(folder, "tls.pem"), "another program's");
  const file = temporaryFile("MODEL_API_KEY=sk-old\n");
  expect(readEnvironment(file, { CREDENTIALS_DIRECTORY: folder, HOST: "::1" })).toEqual({
    CREDENTIALS_DIRECTORY: folder,
    API_KEYS: "sk-one,sk-two=acme/web",
    MODEL_API_KEY: "sk-model",
    HOST: "::1",
    [FILE_NAMES]: ["MODEL_API_KEY"],
  });
});

test("a file that is not there is no fault", () => {
  expect(readEnvironment(join(tmpdir(), "antiphon-no-such-file"), { PORT: "2000" })).toEqual({ PORT: "2000" });
});

test("the names of the file are listed, also where the environment wins", () => {
  const file = temporaryFile("PORT=1000\nMODEL_BASEURL=http://127.0.0.1/v1\n");
  expect(readEnvironment(file, { PORT: "2000" })[FILE_NAMES]).toEqual(["MODEL_BASEURL", "PORT"]);
  expect(readEnvironment(join(tmpdir(), "antiphon-no-such-file"), { PORT: "2000" })[FILE_NAMES]).toBeUndefined();
});
