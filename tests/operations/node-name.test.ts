import { expect, test } from "vitest";
import { startChildServer } from "../kit/child-server.ts";
import { verifies } from "../verifies.ts";
import { startCollector } from "./collector.ts";

test("a node's name is in every line of its log, in its metrics and in the resource of its spans", async () => {
  verifies("operations.node.is-named");
  const collector = await startCollector();
  const child = await startChildServer({
    env: { NODE_NAME: "left", LOG_LEVEL: "debug", OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin },
  });
  await (await child.post("/v1/responses", { model: "m", input: "Say hello" })).json();
  const metrics = await (await child.fetch("/metrics")).text();
  expect(metrics).toContain('antiphon_node{node="left"} 1');
  expect(await child.stop()).toBe(0);
  expect(new Set(child.lines().map(({ node }) => node))).toEqual(new Set(["left"]));
  expect(new Set(collector.spans.map(({ resource }) => resource["service.instance.id"]))).toEqual(new Set(["left"]));
});
