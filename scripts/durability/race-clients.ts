import { setTimeout as sleep } from "node:timers/promises";
import { judgeToldEnds } from "./checks/told-ends.ts";
import type { Outcome } from "./figures/outcome.ts";
import { TOLD_MS_MAX } from "./limits.ts";
import { type Race, raceKills } from "./race-kills.ts";
import { anyNode, type System } from "./systems/system.ts";
import { startWebhookReceiver } from "./world/webhook-receiver.ts";

const LOOK_MS = 200;

/**
 * Kills nodes as `raceKills` does, while clients lose replies to creates, repeat them under their `Idempotency-Key`,
 * some twice at once, and while a receiver of webhooks fails. Waits for what it is still owed.
 */
export async function raceClients(race: Omit<Race, "repeats">): Promise<Outcome> {
  const receiver = await startWebhookReceiver();
  try {
    await addEndpoint(race.system, receiver.url);
    const outcome = await raceKills({ ...race, repeats: true });
    const told = () => judgeToldEnds(receiver.arrivals, outcome.verdicts);
    for (const until = Date.now() + TOLD_MS_MAX; told().missing.length > 0 && Date.now() < until; )
      await sleep(LOOK_MS);
    return { ...outcome, toldEnds: told() };
  } finally {
    receiver.stop();
  }
}

async function addEndpoint({ api, nodes }: System, url: string): Promise<void> {
  const node = await anyNode(nodes, Date.now() + TOLD_MS_MAX);
  const event_types = ["response.completed", "response.failed", "response.incomplete"];
  const reply = await fetch(`${node}/v1/webhook_endpoints`, {
    method: "POST",
    headers: { ...api.headers, "content-type": "application/json" },
    body: JSON.stringify({ name: "durability", url, event_types }),
  });
  if (!reply.ok) throw new Error(`the endpoint was refused: ${await reply.text()}`);
}
