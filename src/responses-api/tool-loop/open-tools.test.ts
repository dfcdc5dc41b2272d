import type { StoredItem, ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedTool, ToolKind } from "@antiphon/domain/hosted-tool.ts";
import { createHostedTools } from "@antiphon/domain/hosted-tools.ts";
import { expect, test } from "vitest";
import { toolScope } from "../../tools/tool-scope.fixture.ts";
import { openTools } from "./open-tools.ts";

const SEARCH = { type: "web_search" } as const;
const SHELL = { type: "shell", environment: { type: "container_auto" } } as const;
const CALL: StoredItem = {
  id: "ci_1",
  type: "code_interpreter_call",
  status: "completed",
  code: "1",
  container_id: "cntr_1",
  outputs: null,
};

/** Whether the web search beside this tool is told that private things are read. */
async function isCareful(kind: ToolKind, tool: ToolInput, context: readonly StoredItem[] = []): Promise<boolean> {
  let careful = false;
  const tools = [...new Set([kind, "web_search"] as const)].map(
    (one): HostedTool => ({
      kind: one,
      types: [one === kind ? tool.type : "web_search"],
      refusal: () => null,
      open: async (_tool, { readsPrivately }) => {
        if (one === "web_search") careful = readsPrivately;
        return {
          functions: [],
          note: null,
          opening: [],
          pending: [],
          call: () => {
            throw new Error("nothing is called here");
          },
          close: async () => {},
        };
      },
    }),
  );
  const limits = { turnsMax: 1, callsMax: 1, parallelMax: 1, outputCharactersMax: 1, attemptsMax: 1, repeatMs: 1 };
  const { readsPrivately: _own, ...scope } = toolScope({ context });
  const hosted = [
    { kind, tool },
    { kind: "web_search" as const, tool: SEARCH },
  ];
  await openTools(
    createHostedTools(tools, { kinds: new Set(), limits, unavailable: "omit", nodeName: "here" }),
    hosted,
    scope,
  );
  return careful;
}

test.each([
  ["an empty container", { type: "auto" }, [], false],
  ["a container with files", { type: "auto", file_ids: ["file-1"] }, [], true],
  ["a container that is named", "cntr_1", [], true],
  ["a container that is used again", { type: "auto" }, [CALL], true],
] as const)("code in %s", async (_, container, context, expected) => {
  const tool: ToolInput = {
    type: "code_interpreter",
    container:
      typeof container === "string"
        ? container
        : { type: "auto", file_ids: "file_ids" in container ? [...container.file_ids] : [] },
  };
  expect(await isCareful("code_interpreter", tool, context)).toBe(expected);
});

test("a shell in a container is private as soon as something ran in it; the client's is none of ours", async () => {
  expect(await isCareful("shell", SHELL)).toBe(false);
  expect(await isCareful("shell", SHELL, [CALL])).toBe(true);
  expect(await isCareful("shell", { type: "shell" }, [CALL])).toBe(false);
});
