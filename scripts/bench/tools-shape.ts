/** How long the tool of the MCP server takes, in milliseconds. */
export const CALL_MS = 50;

const call = (count: number): readonly object[] =>
  Array.from({ length: count }, (_, index) => ({
    call: { name: "wait", namespace: "slow", call_id: `call_${index}`, arguments: {} },
  }));

/** The model: `chain N` calls the tool N times, one after the other; `fan` calls it three times at once. */
export const SCENARIO = {
  scenarios: [
    { when: { input_contains: "fan", tool_outputs: 0 }, events: call(3) },
    { when: { input_contains: "chain", tool_outputs: 0 }, events: call(1) },
    { when: { input_contains: "chain 2", tool_outputs: 1 }, events: call(1) },
    { when: {}, events: [{ text: "Done." }] },
  ],
};
