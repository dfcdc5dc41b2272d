import { expect, test } from "vitest";
import { cpuMsOf } from "../../../tests/kit/cpu-time.ts";
import { verifies } from "../../../tests/verifies.ts";
import { filledItem } from "./filled-item.ts";

const said = (parts: readonly object[]): object => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: parts,
});
const text = { type: "output_text", text: "a" };
const whole = { ...text, annotations: [], logprobs: [] };

test("optional members are filled in as null or as empty lists, in each element of a list", () => {
  const refusal = { type: "refusal", refusal: "no" };
  expect(filledItem(said([text, refusal, whole, text]))).toEqual(said([whole, refusal, whole, whole]));
});

test("an item without a required member is not accepted", () => {
  expect(filledItem({ type: "message", role: "assistant", content: [text] })).toBeNull();
});

test("a list of thousands of sparse elements is filled in, in time linear in its length", async () => {
  verifies("limits.work.linear-in-lists");
  const msOf = async (length: number): Promise<number> => {
    const parts = Array.from({ length }, () => text);
    return (await cpuMsOf(() => expect(filledItem(said(parts))).not.toBeNull())).ms;
  };
  await msOf(5_000);
  const one = await msOf(5_000);
  const four = await msOf(20_000);
  expect(four).toBeLessThan(one * 12 + 200);
});
