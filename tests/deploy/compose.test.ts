import { isRecord } from "@antiphon/base/json/records.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { at, readRoot, readYaml, secondsOf, unknownVariables } from "./manifests.ts";

const FOLDER = "deploy/compose";
const compose = readYaml(readRoot(`${FOLDER}/compose.yaml`));
const services = membersOf(at(compose, "services"));
const [first, second] = [services["node-a"], services["node-b"]];
const balancer = readRoot(`${FOLDER}/haproxy.cfg`);

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** The value of a line of the balancer's file, such as `timeout server`. */
function line(name: string): string {
  return new RegExp(`^\\s*${name}\\s+(.+)$`, "m").exec(balancer)?.[1] ?? "";
}

describe("the compose file", () => {
  test("has two nodes that differ by their name alone", () => {
    const { NODE_NAME: nameA, ...environmentA } = membersOf(at(first, "environment"));
    const { NODE_NAME: nameB, ...environmentB } = membersOf(at(second, "environment"));
    expect([nameA, nameB]).toEqual(["a", "b"]);
    expect(environmentA).toEqual(environmentB);
    expect({ ...membersOf(first), environment: 0, volumes: 0 }).toEqual({
      ...membersOf(second),
      environment: 0,
      volumes: 0,
    });
  });

  test("drains a node longer than the balancer needs to see it, and kills it only then", () => {
    verifies("operations.deploy.drains");
    const delay = secondsOf(at(first, "environment.DRAIN_DELAY_MS"));
    const drain = secondsOf(at(first, "environment.DRAIN_MS"));
    const [, inter = "", fall = ""] = /inter (\w+) fall (\d+)/.exec(line("default-server")) ?? [];
    expect(delay).toBeGreaterThanOrEqual(secondsOf(inter) * Number(fall) + secondsOf(line("timeout check")));
    expect(secondsOf(at(first, "stop_grace_period"))).toBeGreaterThanOrEqual(delay + drain + 10);
  });

  test("has a balancer that asks /readyz of every node, and waits longer than a model may be silent", () => {
    verifies("operations.deploy.probes");
    expect(line("http-check send")).toBe("meth GET uri /readyz");
    const named = [...balancer.matchAll(/^\s*server (\S+) (\S+):(\d+)$/gm)].map(([, name, host, port]) => [
      name,
      host,
      port,
    ]);
    const nodes = Object.keys(services).filter((name) => name.startsWith("node-"));
    expect(named).toEqual(nodes.map((name) => [name, name, "8080"]));
    expect(secondsOf(line("timeout server"))).toBeGreaterThan(300);
    expect(secondsOf(line("timeout client"))).toBeGreaterThan(300);
  });

  test("migrates before the nodes start, which only check", () => {
    verifies("operations.deploy.migrates-first");
    expect(at(services["migrate"], "command")).toEqual(["migrate"]);
    expect(at(first, "depends_on.migrate.condition")).toBe("service_completed_successfully");
    expect(at(first, "environment.MIGRATE")).toBe("check");
  });

  test("holds no secret, and env.example names each variable that it demands", () => {
    verifies("operations.deploy.secrets");
    const demanded = [...readRoot(`${FOLDER}/compose.yaml`).matchAll(/\$\{(\w+):\?\}/g)].map(([, name]) => name);
    const offered = [...readRoot(`${FOLDER}/env.example`).matchAll(/^(\w+)=$/gm)].map(([, name]) => name);
    expect(offered).toEqual(expect.arrayContaining([...new Set(demanded)]));
    expect(demanded).toEqual(expect.arrayContaining(["SEAL_KEYS", "API_KEYS", "POSTGRES_PASSWORD", "S3_SECRET"]));
  });

  test("sets only what is a setting, and publishes nothing but the balancer", () => {
    const environments = ["node-a", "node-b", "migrate"].map((name) => membersOf(at(services[name], "environment")));
    expect(unknownVariables(environments.flatMap((environment) => Object.keys(environment)))).toEqual([]);
    expect(Object.keys(services).filter((name) => at(services[name], "ports") !== undefined)).toEqual(["balancer"]);
  });
});

describe("the compose file of one server", () => {
  const { antiphon: server } = membersOf(at(readYaml(readRoot("compose.yaml")), "services"));

  test("keeps its data in a volume, and is killed only after its drain", () => {
    verifies("operations.deploy.drains");
    expect(at(server, "volumes")).toEqual(["data:/data"]);
    const drain = secondsOf(at(server, "environment.DRAIN_MS"));
    expect(secondsOf(at(server, "stop_grace_period"))).toBeGreaterThanOrEqual(drain + 10);
  });

  test("sets only what is a setting, and is seen by this machine alone unless told otherwise", () => {
    expect(unknownVariables(Object.keys(membersOf(at(server, "environment"))))).toEqual([]);
    expect(at(server, "ports")).toEqual(["${ADDRESS:-127.0.0.1:8080}:8080"]);
  });
});
