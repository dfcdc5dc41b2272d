import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { MediaReader } from "@antiphon/domain/media.ts";
import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { aResponse } from "../../runs/run.fixture.ts";
import { createSealer } from "../seal.ts";
import { planOf } from "../task/run-task.ts";
import { shapeContext } from "./shape-context.ts";

const OWNER = { organization: "org_1", project: "proj_1" };
const IDS = { key: "0123456789abcdef", createdAt: 1_800_000_000, seed: "fedcba9876543210" };
const sealer = createSealer(() => [new Uint8Array(32)]);
const media: MediaReader = {
  forRequest: () => {
    throw new Error("this context has no media");
  },
};

const ABILITIES = { images: false, imageUrls: false, files: false, audioFormats: [] };

/** The reasoning of a run as the model sees it in the next turn. */
async function seen(item: Omit<Extract<StoredItem, { type: "reasoning" }>, "id" | "type">, isSent: boolean) {
  const principal = { keyId: "key_1", owner: OWNER, limits: { requests: null, tokens: null } };
  const { signal } = new AbortController();
  const stored: StoredItem = { id: "rs_1", type: "reasoning", ...item };
  const [shaped] = await shapeContext(
    { sealer, media, abilities: ABILITIES },
    { principal, signal },
    [stored],
    [isSent ? 0 : null],
  );
  return shaped;
}

/** The seal of a run that was told this reasoning. */
function sealOf(text: string, sealedText: string | null): string {
  const task = { ids: IDS, reasoning: { rawAs: "text", isSealed: true }, inputTokensEstimate: 0 } as const;
  const seal = planOf(task, aResponse(), OWNER, sealer).sealReasoning;
  if (seal === null) throw new Error("the task asks for seals");
  return seal(text, "rs_1", sealedText);
}

test("what only its model server can read of reasoning is hidden in the seal and comes back to the model", async () => {
  verifies("responses-engine.reasoning.comes-back");
  const encrypted = sealOf("", "gAAA");
  expect(encrypted).not.toContain("gAAA");
  for (const isSent of [true, false]) {
    expect(await seen({ summary: [], content: [], encrypted_content: encrypted }, isSent)).toEqual({
      id: "rs_1",
      type: "reasoning",
      summary: [],
      content: [],
      encrypted_content: "gAAA",
    });
    const shown = { summary: [], content: [{ type: "reasoning_text" as const, text: "Hm." }] };
    expect(await seen({ ...shown, encrypted_content: sealOf("Hm.", "gAAA") }, isSent)).toMatchObject({
      content: [{ text: "Hm." }],
      encrypted_content: "gAAA",
    });
    const plain = await seen({ summary: [], content: [], encrypted_content: sealOf("Hm.", null) }, isSent);
    expect(plain).toMatchObject({ content: [{ text: "Hm." }] });
    expect(plain).not.toHaveProperty("encrypted_content");
  }
});
