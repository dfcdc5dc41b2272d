import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { CharacterBudget, ConnectionMemory, type SizedTurn, turnAfter } from "./connection-memory.ts";

function turn(characters: number): SizedTurn {
  return { after: null, items: [], exchanges: [], characters };
}

function said(text: string): StoredItem {
  return { id: "msg_1", type: "message", role: "user", status: "completed", content: [{ type: "input_text", text }] };
}

/** Those of `ids` that are remembered. */
function known(memory: ConnectionMemory, ...ids: readonly string[]): readonly string[] {
  return ids.filter((id) => memory.find(id) !== null);
}

test("the latest response of each lane is remembered", () => {
  const memory = new ConnectionMemory(new CharacterBudget(100));
  memory.remember("a", "r1", turn(1));
  memory.remember(null, "r2", turn(1));
  memory.remember("a", "r3", turn(1));
  expect(known(memory, "r1", "r2", "r3")).toEqual(["r2", "r3"]);
  memory.clearLane(null);
  memory.forget("r3");
  memory.forget("r3");
  expect(known(memory, "r2", "r3")).toEqual([]);
});

test("the response that was remembered longest ago makes room", () => {
  const memory = new ConnectionMemory(new CharacterBudget(100), 10);
  memory.remember("a", "r1", turn(4));
  memory.remember("b", "r2", turn(4));
  memory.remember("a", "r3", turn(4));
  memory.remember("c", "r4", turn(5));
  expect(known(memory, "r1", "r2", "r3", "r4")).toEqual(["r3", "r4"]);
});

test("a turn larger than the limit is not remembered and removes no other", () => {
  const memory = new ConnectionMemory(new CharacterBudget(100), 10);
  memory.remember("a", "r1", turn(4));
  memory.remember("b", "r2", turn(11));
  expect(known(memory, "r1", "r2")).toEqual(["r1"]);
});

test("connections share one budget and return their part of it", () => {
  const shared = new CharacterBudget(10);
  const first = new ConnectionMemory(shared, 10);
  const second = new ConnectionMemory(shared, 10);
  first.remember(null, "r1", turn(8));
  second.remember(null, "r2", turn(8));
  expect([known(first, "r1"), known(second, "r2")]).toEqual([["r1"], []]);
  first.close();
  first.remember(null, "r3", turn(1));
  second.remember(null, "r4", turn(10));
  expect([known(first, "r3"), known(second, "r4")]).toEqual([[], ["r4"]]);
  second.forget("r4");
  second.remember("a", "r5", turn(10));
  expect(known(second, "r5")).toEqual(["r5"]);
});

test("a turn holds all items since the stored response", () => {
  const hello = said("hello");
  const name = said("name");
  const bye = said("bye");
  const first = turnAfter({ previousId: "resp_stored", previous: null, items: [hello], exchanges: [] });
  const second = turnAfter({ previousId: "resp_1", previous: first, items: [name, bye], exchanges: [] });
  expect(first).toEqual({
    after: "resp_stored",
    items: [hello],
    exchanges: [],
    characters: JSON.stringify([hello]).length,
  });
  expect(second).toMatchObject({ after: "resp_stored", items: [hello, name, bye] });
  expect(second.characters).toBe(first.characters + JSON.stringify([name, bye]).length);
  expect(turnAfter({ previousId: null, previous: null, items: [], exchanges: [] })).toMatchObject({
    after: null,
    items: [],
  });
});
