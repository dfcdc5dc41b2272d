import { describe, expect, test } from "vitest";
import { checkStreamLaws } from "../responses/check-stream-laws.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { type BehindScript, calls, saysText, serveScript } from "./behind-script.ts";
import { HAS_BUBBLEWRAP } from "./code-engines.ts";

const SHELL = { type: "shell", environment: { type: "container_auto" } };
const CODE = { type: "code_interpreter", container: { type: "auto" } };

function commands(list: readonly string[], members: object = {}) {
  return calls(["shell", JSON.stringify({ commands: list, ...members })]);
}

async function serve(...turns: Parameters<typeof serveScript>[0]): Promise<BehindScript> {
  return await serveScript(turns, { CODE_ENGINE: "bubblewrap" });
}

describe.skipIf(!HAS_BUBBLEWRAP)("a shell in a container", () => {
  test("streams its commands, and then what they printed as an item of its own", async () => {
    verifies("tools.shell.in-a-container");
    const script = await serve(
      commands(["echo hi > a.txt; cat a.txt", "ls nothing"]),
      saysText("See [it](sandbox:/mnt/data/a.txt)."),
    );
    const stream = await readStream(await script.create({ tools: [SHELL], stream: true }));
    checkStreamLaws(stream);
    const types = stream.events.map(({ type }) => type.replace(/^response\./, ""));
    const kinds = types.filter((type, at) => type !== types[at - 1]).slice(2, -1);
    expect(kinds.slice(0, kinds.indexOf("content_part.added") - 1)).toEqual([
      "output_item.added",
      ...["added", "delta", "done", "added", "delta", "done"].map((event) => `shell_call_command.${event}`),
      "output_item.done",
      "output_item.added",
      ...["delta", "done", "delta", "done"].map((event) => `shell_call_output_content.${event}`),
      "output_item.done",
    ]);
    const [call, output, message] = stream.final.output;
    if (call?.type !== "shell_call" || output?.type !== "shell_call_output") throw new Error("no shell");
    expect(call).toMatchObject({ status: "completed", environment: { type: "container_reference" } });
    expect(output).toMatchObject({
      call_id: call.call_id,
      output: [
        { stdout: "hi\n", stderr: "", outcome: { type: "exit", exit_code: 0 } },
        { stdout: "", stderr: expect.stringContaining("nothing"), outcome: { type: "exit", exit_code: 2 } },
      ],
    });
    expect(message).toMatchObject({
      content: [{ annotations: [{ type: "container_file_citation", filename: "a.txt" }] }],
    });
  });

  test("obeys the limits of a call", async () => {
    const script = await serve(
      commands(["sleep 60"], { timeout_ms: 300 }),
      commands(["seq 100000"], { max_output_length: 100 }),
      saysText("Done."),
    );
    const { output } = await readResponse(await script.create({ tools: [SHELL] }));
    const printed = output.flatMap((item) => (item.type === "shell_call_output" ? item.output : []));
    expect(printed.map(({ outcome }) => outcome.type)).toEqual(["timeout", "exit"]);
    expect(printed[1]?.stdout.length).toBeLessThan(250);
    expect(output.find((item) => item.type === "shell_call_output" && item.max_output_length === 100)).toBeDefined();
  });

  test("shares its container with the code of the response, and of the chain", async () => {
    const code = (text: string) => calls(["code_interpreter", JSON.stringify({ code: text })]);
    const script = await serve(
      code("open('/mnt/data/n', 'w').write('41')"),
      commands(["cat n"]),
      saysText("Done."),
      commands(["wc -c < n"]),
      saysText("Done."),
    );
    const first = await readResponse(await script.create({ tools: [SHELL, CODE] }));
    const next = { tools: [SHELL], previous_response_id: first.id, input: "Go on" };
    const second = await readResponse(await script.create(next));
    const printed = [...first.output, ...second.output].flatMap((item) =>
      item.type === "shell_call_output" ? item.output : [],
    );
    expect(printed.map(({ stdout }) => stdout.trim())).toEqual(["41", "2"]);
  });

  test.each([{ store: false }, {}])("is shown to the model of the next turn as it was: %j", async (members) => {
    const script = await serve(commands(["echo heron"]), saysText("Done."));
    const first = await readResponse(await script.create({ tools: [SHELL], ...members }));
    const next =
      "store" in members
        ? { input: [{ role: "user", content: "Hi" }, ...first.output, { role: "user", content: "Why?" }] }
        : { input: "Why?", previous_response_id: first.id };
    const second = await readResponse(await script.create({ tools: [SHELL], ...next }));
    expect(second.status).toBe("completed");
    expect(JSON.stringify(script.asked.at(-1)?.messages)).toContain("heron");
  });

  test("runs nothing of wrong arguments, and the client's own shell is as it was", async () => {
    const script = await serve(calls(["shell", '{"commands":[7]}']), commands(["true"]), saysText("Done."));
    const { output } = await readResponse(await script.create({ tools: [SHELL] }));
    expect(output.map((item) => ("status" in item ? `${item.type} ${item.status}` : item.type))).toEqual([
      "shell_call incomplete",
      "shell_call completed",
      "shell_call_output completed",
      "message completed",
    ]);
    const local = await serve(commands(["ls"]), saysText("Never."));
    const asks = await readResponse(await local.create({ tools: [{ type: "shell" }] }));
    expect(asks.output).toMatchObject([{ type: "shell_call", status: "completed", environment: null }]);
  });
});
