import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { toolDelta } from "../responses/behind-upstream.ts";
import { serveBank } from "./bank.ts";

/** A model that looks so many times, one after the other, and a tool that does not answer when it is called first. */
export async function slowSteps(steps: number) {
  const calls = Array.from({ length: steps }, () => ({ count: 0, begun: Promise.withResolvers<void>() }));
  const mcpUrl = await serveBank(async (_tool, number) => {
    const call = calls[number];
    if (call === undefined) throw new Error(`there is no step ${number}`);
    call.count += 1;
    call.begun.resolve();
    if (call.count === 1) await new Promise(() => {});
    return { content: [{ type: "text", text: "looked" }] };
  });
  let turns = 0;
  const model = await serveChat((response, { body }) => {
    const step = body.split('"role":"tool"').length - 1;
    const made = {
      id: `call_${step}`,
      type: "function",
      function: { name: "bank__look", arguments: `{"number":${step}}` },
    };
    turns += 1;
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (step < steps) response.end(sse(toolDelta(0, made), lastChunk("tool_calls"), "[DONE]"));
    else response.end(sse(textChunk("Done."), lastChunk("stop"), "[DONE]"));
  });
  return {
    mcpUrl,
    modelUrl: `${model.origin}/v1`,
    /** Resolves once the call of this step has begun. */
    begun: async (step: number) => await calls[step]?.begun.promise,
    turns: () => turns,
  };
}
