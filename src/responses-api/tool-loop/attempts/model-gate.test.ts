import { expect, test } from "vitest";
import { ModelGate } from "./model-gate.ts";

/** A gate with a clock of its own, and turns that note when they are let in. */
function gateWithTurns() {
  let now = 0;
  const gate = new ModelGate(() => now);
  const entered: string[] = [];
  const stop = new AbortController();
  const enter = (name: string) => {
    const done = gate.enter(stop.signal).then(() => void entered.push(name));
    done.catch(() => {});
    return done;
  };
  return { gate, entered, enter, stop, passTo: (ms: number) => (now = ms) };
}

test("an open gate lets everyone in", async () => {
  const { gate, enter, entered } = gateWithTurns();
  await Promise.all([enter("one"), enter("two")]);
  expect(entered).toEqual(["one", "two"]);
  expect(gate.waitMs).toBe(0);
});

test("when the time has come, one turn tries, and the others follow once it was accepted", async () => {
  const { gate, enter, entered, passTo } = gateWithTurns();
  gate.close(100);
  expect(gate.waitMs).toBe(100);
  passTo(100);
  await enter("first");
  const others = [enter("second"), enter("third")];
  await new Promise(setImmediate);
  expect(entered).toEqual(["first"]);
  gate.open();
  await Promise.all(others);
  expect(entered).toEqual(["first", "second", "third"]);
});

test("if the turn that tries is refused, the others wait on, and another one tries", async () => {
  const { gate, enter, entered, passTo } = gateWithTurns();
  gate.close(10);
  passTo(10);
  await enter("first");
  const others = [enter("second"), enter("third")];
  gate.close(20);
  passTo(30);
  await expect.poll(() => entered).toEqual(["first", "second"]);
  gate.open();
  await Promise.all(others);
});

test("who is stopped leaves the line", async () => {
  const { gate, enter, stop } = gateWithTurns();
  gate.close(60_000);
  const waiting = enter("one");
  stop.abort(new Error("cancelled"));
  await expect(waiting).rejects.toThrow("cancelled");
});
