/** The chunks as text of a server-sent event stream. */
export function sse(...chunks: readonly unknown[]): string {
  return chunks.map((chunk) => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`).join("");
}

export function textChunk(content: string): unknown {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  };
}

export function lastChunk(reason: string): unknown {
  return { id: "chatcmpl-1", choices: [{ index: 0, delta: {}, finish_reason: reason }] };
}

export function delta(members: object): unknown {
  return { id: "chatcmpl-1", model: "m", choices: [{ index: 0, delta: members, finish_reason: null }] };
}

/** A piece of one function call. */
export function toolDelta(index: number, members: object): unknown {
  return delta({ tool_calls: [{ index, ...members }] });
}

export function usageChunk(usage: object): unknown {
  return { id: "chatcmpl-1", choices: [], usage };
}
