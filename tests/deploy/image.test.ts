import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "@antiphon/base/json/records.ts";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../verifies.ts";
import { at, ROOT, readRoot } from "./manifests.ts";

/** The last stage of the Dockerfile, one instruction a line. */
const stage = (
  readRoot("Dockerfile")
    .split(/^FROM /m)
    .at(-1) ?? ""
)
  .replaceAll(/^\s*#.*\n/gm, "")
  .replaceAll(/\\\n\s*/g, "")
  .split("\n");

/** What follows each instruction of a name. */
function instructions(name: string): readonly string[] {
  return stage.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
}

/** The words in the last instruction of a name, such as `["node", "main.ts"]`. */
function listIn(name: string): readonly string[] {
  return JSON.parse(
    instructions(name)
      .at(-1)
      ?.replace(/^.*CMD /, "") ?? "[]",
  );
}

const environment = Object.fromEntries(
  instructions("ENV")
    .flatMap((line) => line.split(/\s+/))
    .map((pair) => pair.split("=", 2)),
);

/** What the image copies from the repository, and what of it .dockerignore leaves out. */
const copied = instructions("COPY")
  .filter((line) => !line.startsWith("--from"))
  .flatMap((line) => line.split(" ").slice(0, -1));
const isLeftOut = (path: string): boolean => /[.](test|fixture)[.]ts$/.test(path);

/** Packages that `npm ci --omit=dev --omit=optional` installs, without those inside of others. */
function packages(): readonly string[] {
  const { packages: all } = JSON.parse(readRoot("package-lock.json"));
  if (!isRecord(all)) throw new Error("the lock file lists no packages");
  return Object.keys(all).filter(
    (path) => isOutermost(path) && ["dev", "optional", "devOptional"].every((kind) => at(all[path], kind) !== true),
  );
}

function isOutermost(path: string): boolean {
  return path.lastIndexOf("node_modules/") === 0;
}

test("what the image holds is enough to serve, as another user, and its own check of health agrees", async () => {
  verifies("operations.deploy.image-is-whole");
  // In the repository, so that the packages can be links to files instead of copies.
  await mkdir(join(ROOT, "build"), { recursive: true });
  const folder = await mkdtemp(join(ROOT, "build/image-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const options = { recursive: true, filter: (path: string) => !isLeftOut(path) };
  for (const path of copied) await cp(join(ROOT, path), join(folder, path), options);
  await link(packages(), folder);
  const inImage = (word: string): string => word.replace(/^\/app\//, `${folder}/`);
  const [program = "", ...given] = listIn("ENTRYPOINT").map(inImage);
  expect(program).toBe("node");
  const env = {
    ...environment,
    PATH: process.env["PATH"],
    HOST: "127.0.0.1",
    PORT: "0",
    STT_PORT: "0",
    DATA_DIR: join(folder, "data"),
    API_KEYS: "sk-images-own-key-0123456789=acme/web",
  };
  const child = spawn(process.execPath, given, { cwd: folder, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += String(text)));
  await expect.poll(() => said, { timeout: 30_000 }).toMatch(/Responses API\s+http:\S+\/v1/);
  const url = new URL(/http:\S+(?=\/v1)/.exec(said)?.[0] ?? "");
  const reply = await fetch(`${url.origin}/v1/responses`, {
    method: "POST",
    headers: { authorization: "Bearer sk-images-own-key-0123456789", "content-type": "application/json" },
    body: JSON.stringify({ model: "antiphon-built-in", input: "Say hello" }),
  });
  expect(await reply.json()).toMatchObject({ status: "completed" });
  const check = spawn(process.execPath, listIn("HEALTHCHECK").slice(1), { env: { ...env, PORT: url.port } });
  expect(await once(check, "exit")).toEqual([0, null]);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("the image runs without rights, in production, and can be told to stop", () => {
  expect(environment).toMatchObject({ NODE_ENV: "production", HOST: "0.0.0.0" });
  expect(instructions("USER").at(-1)).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(readRoot(".dockerignore").split("\n")).toEqual(
    expect.arrayContaining(["*", ...copied.map((path) => `!${path}`)]),
  );
});

/** Makes links to all files below the given folders of the repository. */
async function link(paths: readonly string[], folder: string): Promise<void> {
  const copying = spawn("cp", ["-al", "--parents", "--", ...paths, folder], { cwd: ROOT, stdio: "inherit" });
  expect(await once(copying, "exit")).toEqual([0, null]);
}
