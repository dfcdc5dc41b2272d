import { expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { create, MODEL, start, textOf, user } from "./compact.fixture.ts";

const SMALL = { MODEL_CONTEXT_WINDOW: "400" };
const filler = "word ".repeat(60);

test("truncation auto leaves out the oldest items; without it the input is refused", async () => {
  verifies("create.context.truncation-auto-drops-oldest", "errors.catalogue.context-length");
  const server = await start({ env: SMALL });
  const input = [
    user(`My name is Ada. ${filler}`),
    ...Array.from({ length: 6 }, () => user(`My city is Oslo. ${filler}`)),
  ];
  const name = await create(server, { input: [...input, user("What is my name?")], truncation: "auto" });
  expect(textOf(name.output)).toBe("You have not told me your name.");
  const city = await create(server, { input: [...input, user("What is my city?")], truncation: "auto" });
  expect(textOf(city.output)).toBe("Your city is Oslo.");
  expect(city.truncation).toBe("auto");
  expect(city.usage?.input_tokens).toBeLessThanOrEqual(300);
  const listed = await server.fetch(`/v1/responses/${city.id}/input_items?limit=100`);
  const { data }: { data: readonly object[] } = await listed.json();
  expect(data).toHaveLength(8);

  for (const truncation of ["disabled", null]) {
    const reply = await server.post("/v1/responses", { model: MODEL, input: [...input, user("Hi")], truncation });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({
      error: {
        code: "context_length_exceeded",
        param: "input",
        type: "invalid_request_error",
        message: expect.stringContaining("context window"),
      },
    });
  }
});

test("a chain is left out from its start, and is complete again for a larger window", async () => {
  const server = await start({ env: SMALL });
  let id: string | undefined;
  for (let turn = 0; turn < 6; turn += 1) {
    const body = { input: `My pet ${turn} is P${turn}. ${filler}`, truncation: "auto" };
    ({ id } = await create(server, id === undefined ? body : { ...body, previous_response_id: id }));
  }
  const known = await create(server, { previous_response_id: id, input: "What is my pet 5?", truncation: "auto" });
  expect(textOf(known.output)).toBe("Your pet 5 is P5.");
  const lost = await create(server, { previous_response_id: id, input: "What is my pet 0?", truncation: "auto" });
  expect(textOf(lost.output)).toBe("You have not told me your pet 0.");
});

test("input is refused if the items that must stay are too long", async () => {
  const server = await start({ env: SMALL });
  for (const input of ["word ".repeat(500), [{ role: "developer", content: "word ".repeat(500) }, user("Hi")]]) {
    const reply = await server.post("/v1/responses", { model: MODEL, input, truncation: "auto" });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { code: "context_length_exceeded", param: "input" } });
  }
});

test("a call is left out together with its output, even within the current turn", async () => {
  const server = await start({ env: SMALL });
  const rounds = Array.from({ length: 8 }, (_, round) => [
    { type: "function_call", call_id: `call_${round}`, name: "look_up", arguments: "{}" },
    { type: "function_call_output", call_id: `call_${round}`, output: `Found ${round}: ${filler}` },
  ]).flat();
  const { output } = await create(server, { input: [user("Look everything up."), ...rounds], truncation: "auto" });
  const said = textOf(output);
  expect(said).toContain("Found 7");
  expect(said).not.toContain("Found 0");
  expect(said).not.toContain("The tool returned"); // An output without its call would be reported like this.
});

test("the count of an input excludes the items left out", async () => {
  const server = await start({ env: SMALL });
  const body = {
    model: MODEL,
    input: [...Array.from({ length: 9 }, () => user(filler)), user("Hi")],
    truncation: "auto",
  };
  const created = await create(server, body);
  const counted = await (await server.post("/v1/responses/input_tokens", body)).json();
  expect(counted).toMatchObject({ input_tokens: created.usage?.input_tokens });
  const whole = await (await server.post("/v1/responses/input_tokens", { ...body, truncation: "disabled" })).json();
  expect(whole).toMatchObject({ input_tokens: 9 * 61 + 1 });
});

test("the summary of a compaction is never left out", async () => {
  const server = await start({ env: SMALL });
  const compacted = await server.post("/v1/responses/compact", { model: MODEL, input: "My name is Ada." });
  const { output }: { output: readonly object[] } = await compacted.json();
  const input = [...output.slice(-1), ...Array.from({ length: 9 }, () => user(filler)), user("What is my name?")];
  expect(textOf((await create(server, { input, truncation: "auto" })).output)).toBe("Your name is Ada.");
});

test("a context that fills the window can still be compacted", async () => {
  const server = await start({ env: { MODEL_CONTEXT_WINDOW: "1000" } });
  const input = [
    user("My name is Ada."),
    ...Array.from({ length: 16 }, (_, index) => user(`My pet ${index} is P${index}. ${filler}`)),
  ];
  const compacted = await server.post("/v1/responses/compact", { model: MODEL, input });
  expect(compacted.status, await compacted.clone().text()).toBe(200);
  const { output }: { output: readonly object[] } = await compacted.json();
  expect(output).toHaveLength(18);
  const next = await create(server, { input: [...output.slice(-1), user("What is my pet 15?")] });
  expect(textOf(next.output)).toBe("Your pet 15 is P15.");
});
