import { execFileSync, spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { preparedFolder } from "../../src/servers/choices/code/prepared-folder.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { HAS_BUBBLEWRAP } from "../tools/code-engines.ts";
import { verifies } from "../verifies.ts";

const TEST_TIMEOUT_MS = 120_000;
const FOUND_MS_MAX = 60_000;
const HERE = "127.0.0.1";
const EVERYWHERE = "0.0.0.0";
const ALL_CAN_RUN = 0o755;
const SYSTEM_PYTHON = "/usr/bin/python3";
const HAS_VENV = HAS_BUBBLEWRAP && spawnSync(SYSTEM_PYTHON, ["-c", "import venv"]).status === 0;

/** Has a `bwrap` that fails, and `data` with the snapshot of Pyodide for all of these servers. `empty` is not there. */
const folder = temporaryFolder(afterAll);
const WITHOUT_BUBBLEWRAP = { PATH: join(folder, "empty") };
const WITH_BROKEN_BUBBLEWRAP = { PATH: folder };
const dataDir = join(folder, "data");
const NO_PYTHON = { CODE_PYTHON: "/usr/bin/no-python" };
const ALONE = "Pyodide in a process of few rights";
const CONFINED = "Pyodide in bubblewrap";

/** `data` has a Python of `antiphon code setup` that does not run, so that bubblewrap never runs one. */
beforeAll(async () => {
  const broken = join(preparedFolder(dataDir), "ready");
  await mkdir(join(broken, "bin"), { recursive: true });
  await symlink("/bin/false", join(broken, "bin/python3"));
  await writeFile(join(broken, "antiphon.json"), JSON.stringify({ python: "3.13" }));
  await writeFile(
    join(folder, "bwrap"),
    "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
  );
  await chmod(join(folder, "bwrap"), ALL_CAN_RUN);
});

function start(env: Readonly<Record<string, string>>): Promise<ChildServer> {
  return startChildServer({ env: { DATA_DIR: dataDir, TOOLS_UNAVAILABLE: "refuse", ...env } });
}

async function expectRuns(server: ChildServer, place: string): Promise<void> {
  const line = new RegExp(`^Code runs in {7}${place}, Python 3\\.\\d+$`, "m");
  await expect.poll(() => server.said(), { timeout: FOUND_MS_MAX }).toMatch(line);
  expect(await details(server)).toMatchObject({ status: "ok", details: { code: "pyodide" } });
  expect(JSON.stringify(await (await askForCode(server)).json())).toContain('"logs":"42"');
  expect(await server.stop()).toBe(0);
}

async function expectRefuses(server: ChildServer, reason: RegExp): Promise<void> {
  const line = new RegExp(`^Code does not run {2}${reason.source}`, "m");
  await expect.poll(() => server.said(), { timeout: FOUND_MS_MAX }).toMatch(line);
  expect(await details(server)).toMatchObject({ status: "ok", details: { code: "none" } });
  const refused = await askForCode(server);
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { message: expect.stringMatching(reason) } });
  expect(await server.stop()).toBe(0);
}

async function details(server: ChildServer): Promise<unknown> {
  return (await server.fetch("/readyz")).json();
}

function askForCode(server: ChildServer, code = "6 * 7"): Promise<Response> {
  return server.post("/v1/responses", {
    model: "antiphon-built-in",
    input: `Use code_interpreter to run "${code}"`,
    tools: [{ type: "code_interpreter", container: { type: "auto" } }],
    include: ["code_interpreter_call.outputs"],
  });
}

describe("a server that may choose its engine for code", { timeout: TEST_TIMEOUT_MS }, () => {
  test.skipIf(!HAS_BUBBLEWRAP)("confines Pyodide where the system's Python does not run", async () => {
    verifies("operations.readiness.code-is-shown");
    await expectRuns(await start({ CODE_ENGINE: "auto", HOST: EVERYWHERE }), CONFINED);
  });

  test("takes Pyodide alone where bubblewrap is missing, if it serves only this machine", async () => {
    const server = await start({ CODE_ENGINE: "auto", HOST: HERE, LOG_LEVEL: "warn", ...WITHOUT_BUBBLEWRAP });
    await expectRuns(server, ALONE);
    const told = expect.stringContaining("without the Python of antiphon code setup");
    expect(server.lines()).toContainEqual(expect.objectContaining({ msg: told }));
  });

  test("takes Pyodide alone where bubblewrap fails, if it serves only this machine", async () => {
    await expectRuns(await start({ CODE_ENGINE: "auto", HOST: "localhost", ...WITH_BROKEN_BUBBLEWRAP }), ALONE);
  });

  test.for([
    ["is missing", WITHOUT_BUBBLEWRAP],
    ["fails", WITH_BROKEN_BUBBLEWRAP],
  ] as const)("runs no code for other machines where bubblewrap %s", async ([, path]) => {
    const reason =
      /This server runs no code, because HOST opens it to other machines and bubblewrap does not confine Pyodide here\. Install bubblewrap, or set CODE_ENGINE to pyodide\./;
    await expectRefuses(await start({ CODE_ENGINE: "auto", HOST: EVERYWHERE, ...path }), reason);
  });
});

describe("a server that is told its engine for code", { timeout: TEST_TIMEOUT_MS }, () => {
  test("takes Pyodide alone for other machines too", async () => {
    await expectRuns(await start({ CODE_ENGINE: "pyodide", HOST: EVERYWHERE, ...WITHOUT_BUBBLEWRAP }), ALONE);
  });

  test.skipIf(!HAS_BUBBLEWRAP)("confines Pyodide where it can", async () => {
    await expectRuns(await start({ CODE_ENGINE: "pyodide", HOST: HERE }), CONFINED);
  });

  test("needs an image for docker", async () => {
    await expectRefuses(
      await start({ CODE_ENGINE: "docker" }),
      /CODE_ENGINE is docker\. Set CODE_IMAGE to an image with Python 3\./,
    );
  });

  test("takes no other engine where docker is missing", async () => {
    const env = { CODE_ENGINE: "docker", CODE_IMAGE: "localhost/no-such-image", ...WITHOUT_BUBBLEWRAP };
    await expectRefuses(
      await start(env),
      /Code cannot run in containers of localhost\/no-such-image here: neither docker nor podman is installed/,
    );
  });

  test("takes no other engine where bubblewrap does not run Python", async () => {
    const missing = HAS_BUBBLEWRAP ? /CODE_ENGINE is bubblewrap\. .*no-python/ : /CODE_ENGINE is bubblewrap\. .*bwrap/;
    await expectRefuses(await start({ CODE_ENGINE: "bubblewrap", ...NO_PYTHON }), missing);
  });

  test("takes no other Python, and no other engine, where that of CODE_PYTHON does not run", async () => {
    verifies("tools.code-interpreter.no-other-engine");
    await expectRefuses(
      await start({ CODE_ENGINE: "auto", ...NO_PYTHON }),
      /This server runs no code, because CODE_PYTHON does not run\. Correct or remove that setting, or set CODE_ENGINE to pyodide\. \(.*(?:no-python|bwrap)/,
    );
  });

  test.skipIf(!HAS_VENV)(
    "runs a Python in any folder, of which code sees the programs and libraries alone",
    async () => {
      const home = temporaryFolder();
      await chmod(home, ALL_CAN_RUN); // For the users of sandboxes, if this test runs as root.
      const venv = join(home, "own/venv");
      execFileSync(SYSTEM_PYTHON, ["-m", "venv", "--without-pip", venv]);
      const [packages = ""] = globSync(join(venv, "lib/python3*/site-packages"));
      await writeFile(join(packages, "ours.py"), "NAME = 'a module of ours'\n");
      await writeFile(join(home, "own/secret"), "secret");
      await writeFile(join(venv, "secret"), "secret");
      const server = await start({ CODE_ENGINE: "auto", CODE_PYTHON: join(venv, "bin/python") });
      await expect.poll(() => server.said(), { timeout: FOUND_MS_MAX }).toMatch(/^Code runs in {7}bubblewrap, Python/m);
      const looks = `__import__('ours').NAME, __import__('glob').glob('${home}/**/secret', recursive=True)`;
      expect(JSON.stringify(await (await askForCode(server, looks)).json())).toContain("('a module of ours', [])");
      expect(await server.stop()).toBe(0);
    },
  );

  test("runs no code if it is off", async () => {
    await expectRefuses(await start({ CODE_ENGINE: "off" }), /This server runs no code, because CODE_ENGINE is off\./);
  });
});
