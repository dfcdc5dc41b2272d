import {
  Agent,
  handoff,
  InputGuardrailTripwireTriggered,
  OpenAIConversationsSession,
  OpenAIProvider,
  OpenAIResponsesCompactionSession,
  Runner,
  RunState,
  tool,
} from "@openai/agents";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";
import { startWithClient } from "./openai-client.ts";

/** One model per agent, so that a scenario knows which agent asks. */
const SCENARIO = `
models: [triage, expert, gpt-5-mini]
scenarios:
  - when: { model: triage, has_tool_output: false }
    events:
      - text: I know someone for that.
      - call: { name: transfer_to_Weather_expert, call_id: call_over, arguments: {} }
  - when: { model: expert, tool_outputs: 1 }
    events:
      - reasoning_summary: ["**Two cities**"]
      - call: { name: get_weather, call_id: call_paris, arguments: { city: Paris } }
      - call: { name: get_weather, call_id: call_rome, arguments: { city: Rome } }
  - when: { model: expert, tool_outputs: 3 }
    events: [{ text: 18 degrees in both. }]
  - when: { model: gpt-5-mini, input_contains: approve, has_tool_output: false }
    events: [{ call: { name: delete_file, call_id: call_rm, arguments: { path: notes.txt } } }]
  - when: { input_contains: dies midway }
    events:
      - text: So far so
      - error: { status: 500, type: server_error, code: server_error, message: The model broke off. }
`;

const { server, client } = await startWithClient(SCENARIO);
const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client }), tracingDisabled: true });

const getWeather = tool({
  name: "get_weather",
  description: "Tells the weather of a city.",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `18 degrees in ${city}`,
});
const expert = new Agent({
  name: "Weather expert",
  model: "expert",
  instructions: "You know every weather.",
  handoffDescription: "Knows the weather.",
  tools: [getWeather],
});
const triage = new Agent({ name: "Triage", model: "triage", instructions: "Hand over.", handoffs: [handoff(expert)] });
const plain = new Agent({ name: "Plain", model: "antiphon-built-in", instructions: "Be brief.", tools: [getWeather] });

describe(`@openai/agents ${installedVersion("@openai/agents")}`, () => {
  test("an agent runs a tool and answers", async () => {
    verifies("client.providers.swappable");
    const result = await runner.run(plain, "What is the weather in Paris?");
    expect(result.finalOutput).toContain("18 degrees in Paris");
    expect(result.rawResponses).toHaveLength(2);
    expect(result.runContext.usage.totalTokens).toBeGreaterThan(0);
  });

  test("an agent hands over to another, who calls two tools at once", async () => {
    const result = await runner.run(triage, "Is it warm in Paris and Rome?");
    expect(result.finalOutput).toBe("18 degrees in both.");
    expect(result.lastAgent?.name).toBe("Weather expert");
    expect(result.newItems.map(({ type }) => type)).toEqual([
      "message_output_item",
      "handoff_call_item",
      "handoff_output_item",
      "reasoning_item",
      "tool_call_item",
      "tool_call_item",
      "tool_call_output_item",
      "tool_call_output_item",
      "message_output_item",
    ]);
  });

  test("a streamed run shows words, calls and the change of agents", async () => {
    const result = await runner.run(triage, "Is it warm in Paris and Rome?", { stream: true });
    const seen = new Set<string>();
    let words = "";
    for await (const event of result) {
      if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta") words += event.data.delta;
      if (event.type === "run_item_stream_event") seen.add(event.name);
      if (event.type === "agent_updated_stream_event") seen.add(`now ${event.agent.name}`);
    }
    await result.completed;
    expect(words).toBe("I know someone for that.18 degrees in both.");
    expect(result.finalOutput).toBe("18 degrees in both.");
    for (const name of ["handoff_requested", "handoff_occurred", "tool_called", "tool_output", "now Weather expert"])
      expect(seen).toContain(name);
  });

  test("a run is sent back as history, reasoning and calls included", async () => {
    verifies("create.input.output-items-are-valid-input");
    const first = await runner.run(triage, "Is it warm in Paris and Rome?");
    const second = await runner.run(plain, [...first.history, { role: "user", content: "What did I say?" }]);
    expect(second.finalOutput).toContain("Is it warm in Paris and Rome?");
  });

  test("a run continues by previousResponseId", async () => {
    const first = await runner.run(plain, "My name is Ada.");
    const second = await runner.run(plain, "What is my name?", { previousResponseId: first.lastResponseId ?? "" });
    expect(second.finalOutput).toContain("Ada");
  });

  test("a run continues in a conversation", async () => {
    const { id } = await client.conversations.create();
    await runner.run(plain, "My name is Ada.", { conversationId: id });
    const second = await runner.run(plain, "What is my name?", { conversationId: id });
    expect(second.finalOutput).toContain("Ada");
  });

  test("a conversations session keeps, pops and clears its items", async () => {
    const session = new OpenAIConversationsSession({ client });
    await runner.run(plain, "My name is Ada.", { session });
    await runner.run(plain, "What is the weather in Paris?", { session });
    const third = await runner.run(plain, "What is my name?", { session });
    expect(third.finalOutput).toContain("Ada");
    const types = (await session.getItems()).map((item) => item.type ?? "message");
    expect(types.filter((type) => type === "message")).toHaveLength(6);
    expect(types).toContain("function_call");
    expect(types).toContain("function_call_result");
    expect(await session.popItem()).toMatchObject({ role: "assistant" });
    expect(await session.getItems()).toHaveLength(types.length - 1);
    await session.clearSession();
  });

  test("a compaction session replaces its items by the server's compaction", async () => {
    const session = new OpenAIResponsesCompactionSession({
      client,
      model: "gpt-5-mini",
      shouldTriggerCompaction: ({ sessionItems }) => sessionItems.length >= 4,
    });
    const agent = plain.clone({ model: "gpt-5-mini" });
    await runner.run(agent, "My name is Ada.", { session });
    await runner.run(agent, "Say hello", { session });
    expect((await session.getItems()).map(({ type }) => type)).toContain("compaction");
    expect((await runner.run(agent, "Say goodbye", { session })).finalOutput).toMatch(/goodbye/i);
  });

  test("structured output is parsed by its schema", async () => {
    const agent = new Agent({
      name: "Planner",
      model: "antiphon-built-in",
      outputType: z.object({ name: z.string(), guests: z.array(z.string()) }),
    });
    const result = await runner.run(agent, "Alice and Bob meet on Friday.");
    expect(result.finalOutput).toMatchObject({ name: expect.any(String), guests: expect.any(Array) });
  });

  test("a run restored from text continues after its call is approved", async () => {
    const deleted: string[] = [];
    const agent = new Agent({
      name: "Keeper",
      model: "gpt-5-mini",
      tools: [
        tool({
          name: "delete_file",
          description: "Deletes a file.",
          parameters: z.object({ path: z.string() }),
          needsApproval: true,
          execute: async ({ path }) => {
            deleted.push(path);
            return "deleted";
          },
        }),
      ],
    });
    const asked = await runner.run(agent, "Clean up once I approve.");
    expect(deleted).toEqual([]);
    const state = await RunState.fromString(agent, asked.state.toString());
    for (const interruption of state.getInterruptions()) state.approve(interruption);
    const done = await runner.run(agent, state);
    expect(deleted).toEqual(["notes.txt"]);
    expect(done.finalOutput).toContain("deleted");
  });

  test("a guardrail stops the run and does not harm the server", async () => {
    const agent = plain.clone({
      inputGuardrails: [{ name: "none", execute: async () => ({ tripwireTriggered: true, outputInfo: null }) }],
    });
    await expect(runner.run(agent, "Hello")).rejects.toBeInstanceOf(InputGuardrailTripwireTriggered);
    expect((await runner.run(plain, "Say hello")).finalOutput).toMatch(/hello/i);
  });

  test("a run that fails midway rejects, streamed too", async () => {
    await expect(runner.run(plain, "dies midway")).rejects.toThrow(Error);
    const streamed = await runner.run(plain, "dies midway", { stream: true });
    await expect(streamed.completed).rejects.toThrow("The model broke off.");
  });

  test("tools and a handoff run over one WebSocket", async () => {
    const provider = new OpenAIProvider({
      baseURL: `${server.url}/v1`,
      apiKey: server.apiKey,
      useResponsesWebSocket: true,
    });
    const socketRunner = new Runner({ modelProvider: provider, tracingDisabled: true });
    try {
      const result = await socketRunner.run(triage, "Is it warm in Paris and Rome?", { stream: true });
      await result.completed;
      expect(result.finalOutput).toBe("18 degrees in both.");
      expect((await socketRunner.run(plain, "What is the weather in Paris?")).finalOutput).toContain("18 degrees");
    } finally {
      await provider.close();
    }
  });
});
