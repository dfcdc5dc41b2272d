import { execFile } from "node:child_process";
import { networkInterfaces } from "node:os";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { serveHttp } from "../kit/http-server.ts";
import { loneNetwork, whyNoLoneNetwork } from "../kit/lone-network.ts";
import { ownAddresses } from "./own-addresses.ts";

const network = loneNetwork();
const WHY_SKIPPED = network === undefined ? ` (skipped: ${whyNoLoneNetwork()})` : "";
/** Where `make clients` listens, outside of the network in which it runs these tests. */
const OUTSIDE = (process.env["OUTSIDE_URLS"] ?? "").split(" ").filter((url) => url !== "");
const UNREACHABLE = /^(ECONNREFUSED|ENETUNREACH|EHOSTUNREACH)$/;

/** Prints what came of a call. */
const CALLER =
  "fetch(process.argv[1]).then((reply) => reply.text()).catch((error) => error.cause.code).then(console.log)";
/** The same, of a listener of its own. */
const SELF_CALLER = `
const listener = require("node:http").createServer((_, response) => response.end("heard"));
listener.listen(0, "127.0.0.1", async () => {
  console.log(await (await fetch("http://127.0.0.1:" + listener.address().port)).text());
  process.exit();
});`;

async function run(before: readonly string[], script: string, ...parameters: readonly string[]): Promise<string> {
  const [program = "", ...rest] = [...before, process.execPath, "--eval", script, ...parameters];
  const { stdout } = await promisify(execFile)(program, rest);
  return stdout.trim();
}

describe("every client of make clients", () => {
  test.skipIf(OUTSIDE.length === 0)("runs where nothing outside can be reached", async () => {
    expect(Object.keys(networkInterfaces())).toEqual(["lo"]);
    for (const url of OUTSIDE)
      await expect(fetch(url)).rejects.toMatchObject({ cause: { code: expect.stringMatching(UNREACHABLE) } });
  });
});

describe.skipIf(network === undefined)(`a network of its own${WHY_SKIPPED}`, () => {
  test("keeps a program from listeners outside, at every address of this machine", async () => {
    for (const address of ownAddresses()) {
      const { url, paths } = await serveHttp((_, response) => response.end("heard"), onTestFinished, address);
      expect(await run([], CALLER, url)).toBe("heard");
      expect(await run(network ?? [], CALLER, url)).toMatch(UNREACHABLE);
      expect(paths).toHaveLength(1);
    }
  });

  test("lets programs in it call each other", async () => {
    expect(await run(network ?? [], SELF_CALLER)).toBe("heard");
  });
});
