import type { McpListTools } from "@antiphon/contracts/responses-api/types.ts";
import type { OpenTool } from "@antiphon/domain/hosted-tool.ts";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { McpInput } from "../../../src/tools/mcp/mcp-server.ts";
import { createMcpTool } from "../../../src/tools/mcp/mcp-tool.ts";
import { readResponse } from "../../responses/read-stream.ts";
import { verifies } from "../../verifies.ts";
import { calls, saysText, serveScript } from "../behind-script.ts";
import { plainTool, startEverything, startOfficial, startScripted, toolList } from "./mcp-servers.ts";
import { called, mcpInput, mcpOptions, opened, operatorServer, ranCall } from "./opened-tool.ts";

const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** A server with a text, a picture, an archive and a pattern of texts, and with a tool that links to one of them. */
function archive(): McpServer {
  const server = new McpServer({ name: "archive", version: "1.0.0" });
  const log = { mimeType: "text/plain", description: "What  happened\ntoday." };
  const one = (uri: URL, content: object) => ({ contents: [{ uri: uri.href, text: "", ...content }] });
  server.registerResource("log", "memo://log", log, (uri) =>
    one(uri, { text: "Nothing happened.", mimeType: "text/plain" }),
  );
  server.registerResource("dot", "memo://dot", { mimeType: "image/png" }, (uri) => ({
    contents: [{ uri: uri.href, blob: DOT, mimeType: "image/png" }],
  }));
  server.registerResource("zip", "memo://zip", {}, (uri) => ({ contents: [{ uri: uri.href, blob: "AAAA" }] }));
  server.registerResource("page", new ResourceTemplate("memo://pages/{number}", { list: undefined }), {}, (uri) =>
    one(uri, { text: `This is ${uri.href}.` }),
  );
  server.registerTool("find", { inputSchema: z.object({}) }, () => ({
    content: [
      {
        type: "resource_link",
        name: "log",
        uri: "memo://log",
        mimeType: "text/plain",
        size: 17,
        description: "Today.",
      },
      { type: "resource", resource: { uri: "memo://dot", mimeType: "image/png", blob: DOT } },
    ],
  }));
  return server;
}

async function openedArchive(more: Partial<McpInput> = {}): Promise<OpenTool> {
  const { url } = await startOfficial(archive);
  return await opened(mcpInput({ server_url: url, ...more }));
}

function namesOf({ functions }: OpenTool): readonly string[] {
  return functions.map(({ name }) => name);
}

test("the model follows a link of a result with a function of ours, in the same response", async () => {
  verifies("tools.mcp.resources-are-readable");
  const mcp = await startOfficial(archive);
  const turns = [calls(["find", "{}"]), calls(["lab__read_resource", '{"uri":"memo://log"}']), saysText("Nothing.")];
  const { create, asked } = await serveScript(turns, {}, [createMcpTool(mcpOptions())]);
  const tools = [mcpInput({ server_label: "lab", server_url: mcp.url })];
  const response = await readResponse(await create({ tools }));
  expect(response.output).toMatchObject([
    { type: "mcp_list_tools", tools: [{ name: "find" }, { name: "read_resource", annotations: { read_only: true } }] },
    { type: "mcp_call", name: "find", output: "log (memo://log, text/plain, 17 bytes): Today.\n[image/png, 70 bytes]" },
    { type: "mcp_call", name: "read_resource", status: "completed", output: "Nothing happened.", server_label: "lab" },
    { type: "message" },
  ]);
  expect(JSON.stringify(asked[2]?.messages)).toContain("Nothing happened.");

  const next = await readResponse(await create({ tools, previous_response_id: response.id }));
  expect(next.output[0]?.type).toBe("message"); // The list with our function is in the context.
  expect(asked.at(-1)?.tools?.map((tool) => tool.function.name)).toContain("lab__read_resource");
});

test("resources are listed with their patterns; texts, pictures and other things are read as what they are", async () => {
  const tool = await openedArchive();
  expect(ranCall(await called(tool, "read_resource")).output).toBe(
    [
      "Resources:",
      "- log (memo://log, text/plain): What happened today.",
      "- dot (memo://dot, image/png)",
      "- zip (memo://zip)",
      "Patterns of further uris, with names to be replaced in braces:",
      "- page (memo://pages/{number})",
    ].join("\n"),
  );
  const page = await called(tool, "read_resource", { uri: "memo://pages/7" });
  expect(ranCall(page)).toMatchObject({ output: "This is memo://pages/7.", item: { error: null } });
  const dot = await called(tool, "read_resource", { uri: "memo://dot" });
  expect(dot).toMatchObject({ parts: [{ type: "input_image", image_url: `data:image/png;base64,${DOT}` }] });
  expect(ranCall(dot).output).toBe("[image/png, 70 bytes]");
  const zip = ranCall(await called(tool, "read_resource", { uri: "memo://zip" }));
  expect(zip.output).toBe("[application/octet-stream, 3 bytes]");
});

test("a resource that is not there, and arguments of other types, fail with a sentence", async () => {
  const tool = await openedArchive();
  const missing = ranCall(await called(tool, "read_resource", { uri: "memo://none" }));
  expect(missing).toMatchObject({ item: { status: "failed", error: { type: "mcp_protocol_error" } } });
  expect(missing.output).toMatch(/^The call failed: .*not found/i);
  const wrong = ranCall(await called(tool, "read_resource", { uri: 7 }));
  expect(wrong.output).toMatch(/^The uri and the cursor are not texts\. The tool was not called\./);
});

describe("the function", () => {
  test.each<[Partial<McpInput>, readonly string[]]>([
    [{}, ["find", "read_resource"]],
    [{ allowed_tools: ["find"] }, ["find"]],
    [{ allowed_tools: ["read_resource"] }, ["read_resource"]],
    [{ allowed_tools: { read_only: true } }, ["read_resource"]],
  ])("is chosen like a tool of the server: %j", async (more, names) => {
    expect(namesOf(await openedArchive(more))).toEqual(names);
  });

  test("needs approval like a tool of the server", async () => {
    const tool = await openedArchive({ require_approval: "always" });
    const outcome = await called(tool, "read_resource", { uri: "memo://log" });
    expect(outcome).toMatchObject({ type: "asks", item: { type: "mcp_approval_request", name: "read_resource" } });
  });

  test("is not offered for a server without resources, or in place of its own tool", async () => {
    const plain = await startScripted({});
    expect(namesOf(await opened(mcpInput({ server_url: plain.url })))).toEqual(["one"]);
    const begun = { protocolVersion: "2025-06-18", serverInfo: { name: "own", version: "1" } };
    const own = await startScripted({
      initialize: () => ({ result: { ...begun, capabilities: { tools: {}, resources: {} } } }),
      "tools/list": () => toolList([plainTool("read_resource")]),
    });
    const tool = await opened(mcpInput({ server_url: own.url }));
    expect(namesOf(tool)).toEqual(["read_resource"]);
    expect(ranCall(await called(tool, "read_resource", { uri: "a:b" })).output).toBe("done");
  });

  test("reads nothing under another name that a list of the client gives it", async () => {
    const mcp = await startOfficial(archive);
    const reach = { type: "url", url: mcp.url, headers: {} } as const;
    const servers = [operatorServer(reach, { allowedTools: ["find"] })];
    const annotations = { read_only: true, method: "resources/read" };
    const forged = { annotations, description: "", input_schema: { type: "object" }, name: "find" };
    const list: McpListTools = { id: "mcpl_0", type: "mcp_list_tools", server_label: "shop", tools: [forged] };
    const tool = await opened(mcpInput(), { options: { servers }, context: [list] });
    expect(ranCall(await called(tool, "find", { uri: "memo://log" })).output).toContain("log (memo://log");
  });
});

test("long lists and resources of many parts are cut, with the way to the rest", async () => {
  const begun = { protocolVersion: "2025-06-18", serverInfo: { name: "long", version: "1" } };
  const server = await startScripted({
    initialize: () => ({ result: { ...begun, capabilities: { resources: {} } } }),
    "resources/list": ({ params }) => ({
      result: {
        resources: Array.from({ length: params?.["cursor"] === "2" ? 1 : 250 }, (_, index) => ({
          name: "n",
          uri: `a:${index}`,
        })),
        ...(params?.["cursor"] === "2" ? {} : { nextCursor: "2" }),
      },
    }),
    "resources/read": () => ({ result: { contents: Array.from({ length: 1200 }, () => ({ uri: "a:1", text: "x" })) } }),
  });
  const tool = await opened(mcpInput({ server_url: server.url }), { options: { outputCharactersMax: 10_000 } });
  expect(namesOf(tool)).toEqual(["read_resource"]);
  const first = ranCall(await called(tool, "read_resource")).output.split("\n");
  expect(first).toHaveLength(203);
  expect(first.slice(-2)).toEqual([
    "[50 more were left out.]",
    'There are more resources. Call again with the cursor "2".',
  ]);
  expect(ranCall(await called(tool, "read_resource", { cursor: "2" })).output).toBe("Resources:\n- n (a:0)");
  const read = ranCall(await called(tool, "read_resource", { uri: "a:1" })).output.split("\n");
  expect(read).toHaveLength(1001);
  expect(read.at(-1)).toBe("[200 more parts of the resource were left out.]");
});

test("the official server's links and resources are read", async () => {
  const { url } = await startEverything("streamableHttp");
  const tool = await opened(mcpInput({ server_url: url }), { options: { outputCharactersMax: 20_000 } });
  expect(tool.guide?.text).toMatch(/\S/);
  const links = ranCall(await called(tool, "get-resource-links", { count: 2 })).output;
  const [link] = /demo:\/\/resource\/dynamic\/text\/\d+/.exec(links) ?? [];
  const text = ranCall(await called(tool, "read_resource", { uri: link }));
  expect(text).toMatchObject({ item: { status: "completed" }, output: expect.stringContaining("This is a plaintext") });
  expect(ranCall(await called(tool, "read_resource")).output).toContain("{resourceId}");
});
