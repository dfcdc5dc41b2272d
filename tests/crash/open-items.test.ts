import { expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { readStream } from "../responses/read-stream.ts";
import { someCases } from "../trials.ts";
import { verifies } from "../verifies.ts";
import { start } from "./lives.ts";
import { beginMoment, MOMENTS, readOn, serveMoments } from "./moments.ts";

const TEST_TIMEOUT_MS = 60_000;

test.each(someCases(Object.entries(MOMENTS), 2))(
  "a background response whose server is killed %s completes, and its reader sees one stream",
  async (name, { output, notes }) => {
    verifies("state.crash.open-items-go-on", "state.notes.of-what-happened");
    const [folder, model] = [temporaryFolder(), await serveMoments()];
    const first = await start(folder, model.url, { NODE_NAME: "first" });
    const { id, begun } = await beginMoment(first, name);

    await first.kill();
    const second = await start(folder, model.url, { NODE_NAME: "second" });
    const stream = await readOn(second, id, begun);

    expect(stream.final).toMatchObject({ status: "completed", error: null, output });
    expect(stream.events.map((event) => event.sequence_number)).toEqual(stream.events.map((_, index) => index));
    const replayed = await readStream(await second.fetch(`/v1/responses/${id}?stream=true`));
    expect(replayed.events).toEqual(stream.events);
    expect(model.turns(name)).toBe(2);
    const client = new Antiphon({ baseUrl: second.url, apiKey: second.apiKey });
    const told = (await client.listResponseExchanges(id)).notes;
    expect(told.map(({ kind, what }) => `${kind} ${what}`)).toEqual(notes);
    for (const { node } of told) expect(node).toBe("second");
    const metrics = await (await second.fetch("/metrics")).text();
    expect(metrics).toMatch(/^antiphon_runs_interrupted_total\{by="crash"\} 1$/m);
  },
  TEST_TIMEOUT_MS,
);
