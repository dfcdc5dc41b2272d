import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { claimUnmade } from "../../claim-unmade.fixture.ts";
import { numbersFrom, openTestStore, readNumbers, temporaryFile } from "../../store.fixture.ts";
import { aResponse, OURS } from "../../stored-shapes.fixture.ts";
import { textEvents } from "./text-events.fixture.ts";

const WRITER = fileURLToPath(new URL("append-until-killed.fixture.ts", import.meta.url));

/** Kills an appending process once it has printed `atLeast`, and returns the last number it printed. */
async function killWhileAppending(file: string, atLeast: number): Promise<number> {
  const writer = spawn(process.execPath, [WRITER, file], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(writer, "exit");
  let output = "";
  for await (const text of writer.stdout.setEncoding("utf8")) {
    output += text;
    // Numbers printed before the kill are still read from the pipe.
    if (lastNumber(output) >= atLeast) writer.kill("SIGKILL");
  }
  expect(await exited).toEqual([null, "SIGKILL"]);
  return lastNumber(output);
}

function lastNumber(output: string): number {
  const complete = output.slice(0, output.lastIndexOf("\n") + 1).trimEnd();
  return complete === "" ? -1 : Number(complete.split("\n").at(-1));
}

test.each([100, 1_000, 3_000])(
  "everything a killed process had promised is there, and the run can be ended (%i events)",
  async (atLeast) => {
    const file = temporaryFile();
    const promised = await killWhileAppending(file, atLeast);
    const { events, responses, ledger } = await openTestStore({ file });
    const numbers = await readNumbers(events, "resp_1");
    expect(numbers.length - 1).toBeGreaterThanOrEqual(promised);
    expect(numbers).toEqual(numbersFrom(0, numbers.length - 1));

    expect((await claimUnmade(ledger, 10)).map(({ response }) => response.id)).toEqual(["resp_1"]);
    await events.close("resp_1", textEvents(numbers.length, 1), {
      response: aResponse("resp_1", { status: "failed" }),
      outputItems: [],
    });
    expect(await readNumbers(events, "resp_1")).toEqual(numbersFrom(0, numbers.length));
    expect((await responses.findResponse(OURS, "resp_1"))?.status).toBe("failed");
  },
);
