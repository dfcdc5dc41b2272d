import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { at, manifestOf, ROOT, readManifests, readRoot, secondsOf, unknownVariables } from "./manifests.ts";

const CHART = "deploy/helm/antiphon";
const HELM = process.env["HELM"] ?? "helm";
const VERSION = "1.33.0";

/** What the chart renders by default. The test with Helm shows that it is so. */
const written = readManifests(readRoot("deploy/kubernetes.yaml"));
const deployment = manifestOf(written, "Deployment");
const pod = at(deployment, "spec.template.spec");
const node = at(pod, "containers.0");

/** The value of a variable of a container; an object if it comes from elsewhere. */
function variable(container: unknown, name: string): unknown {
  const entry = variables(container).find((one) => at(one, "name") === name);
  return at(entry, "value") ?? at(entry, "valueFrom");
}

function variables(container: unknown): readonly unknown[] {
  const list = at(container, "env");
  return Array.isArray(list) ? list : [];
}

describe("the manifests for Kubernetes", () => {
  test("drain a node before Kubernetes kills it, and after its probe has been asked often enough", () => {
    verifies("operations.deploy.drains");
    const delay = secondsOf(variable(node, "DRAIN_DELAY_MS"));
    expect(Number(at(pod, "terminationGracePeriodSeconds"))).toBeGreaterThanOrEqual(
      delay + secondsOf(variable(node, "DRAIN_MS")) + 10,
    );
    const probe = at(node, "readinessProbe");
    expect(delay).toBeGreaterThan(Number(at(probe, "periodSeconds")) * Number(at(probe, "failureThreshold")));
    expect(at(deployment, "spec.strategy.rollingUpdate")).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  });

  test("ask whether a node serves, apart from whether it lives", () => {
    verifies("operations.deploy.probes");
    expect(at(node, "readinessProbe.httpGet")).toEqual({ path: "/readyz", port: "http" });
    expect(at(node, "livenessProbe.httpGet")).toEqual({ path: "/healthz", port: "http" });
    expect(at(node, "startupProbe.httpGet")).toEqual({ path: "/healthz", port: "http" });
  });

  test("let one node go at a time", () => {
    verifies("operations.deploy.drains");
    const budget = manifestOf(written, "PodDisruptionBudget");
    expect(at(budget, "spec.maxUnavailable")).toBe(1);
    expect(at(budget, "spec.selector")).toEqual(at(deployment, "spec.selector"));
    expect(Number(at(deployment, "spec.replicas"))).toBeGreaterThanOrEqual(2);
    expect(at(manifestOf(written, "Service"), "spec.selector")).toEqual(at(deployment, "spec.selector.matchLabels"));
  });

  test("take every secret from the Secret, and demand the database and the seal keys", () => {
    verifies("operations.deploy.secrets");
    for (const name of ["DATABASE_URL", "SEAL_KEYS"])
      expect(variable(node, name)).toEqual({ secretKeyRef: { name: "antiphon", key: name } });
    for (const name of ["API_KEYS", "BUS_URL", "MODEL_API_KEY", "METRICS_KEY", "AWS_SECRET_ACCESS_KEY"])
      expect(variable(node, name)).toEqual({ secretKeyRef: { name: "antiphon", key: name, optional: true } });
  });

  test("migrate by a job that runs first, with the database's address alone", () => {
    verifies("operations.deploy.migrates-first");
    const job = manifestOf(written, "Job");
    expect(at(job, "metadata.annotations")).toMatchObject({ "helm.sh/hook": "pre-install,pre-upgrade" });
    const container = at(job, "spec.template.spec.containers.0");
    expect(at(container, "args")).toEqual(["migrate"]);
    expect(at(container, "image")).toBe(at(node, "image"));
    expect(variables(container).map((entry) => at(entry, "name"))).toEqual(["DATABASE_URL"]);
    expect(variable(node, "MIGRATE")).toBe("check");
  });

  test("give containers no rights, and name the node after its pod", () => {
    for (const container of [node, at(manifestOf(written, "Job"), "spec.template.spec.containers.0")])
      expect(at(container, "securityContext")).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    expect(at(pod, "securityContext")).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(variable(node, "NODE_NAME")).toEqual({ fieldRef: { fieldPath: "metadata.name" } });
  });

  test("set only what is a setting", () => {
    const named = [node, at(manifestOf(written, "Job"), "spec.template.spec.containers.0")]
      .flatMap((container) => variables(container))
      .map((entry) => String(at(entry, "name")));
    expect(unknownVariables(named)).toEqual([]);
    const { version } = JSON.parse(readRoot("package.json"));
    expect(at(node, "image")).toBe(`antiphon:${version}`);
  });
});

describe.skipIf(whyNoHelm() !== undefined)(`the Helm chart${whyNoHelm() ?? ""}`, () => {
  test("passes Helm's own checks", () => {
    expect(helm("lint", "--strict", CHART)).toContain("0 chart(s) failed");
  });

  test("renders what is written in deploy/kubernetes.yaml", () => {
    expect(inOrder(render())).toEqual(inOrder(written));
  });

  test("has its settings, ingress, monitor and drain from the values", () => {
    const rendered = render(
      "--set=ingress.enabled=true,ingress.host=api.example.com,ingress.tlsSecretName=tls",
      "--set=podMonitor.enabled=true,drain.delaySeconds=5,drain.seconds=200,migration.enabled=false",
      "--set=settings.FILES_URL=s3://files/here,secret.name=other,image.repository=r.example.com/a",
    );
    const spec = at(manifestOf(rendered, "Deployment"), "spec.template.spec");
    expect(at(spec, "terminationGracePeriodSeconds")).toBe(225);
    const container = at(spec, "containers.0");
    expect(variable(container, "FILES_URL")).toBe("s3://files/here");
    expect(variable(container, "MIGRATE")).toBe("auto");
    expect(variable(container, "SEAL_KEYS")).toEqual({ secretKeyRef: { name: "other", key: "SEAL_KEYS" } });
    expect(at(container, "image")).toMatch(/^r[.]example[.]com\/a:\d/);
    expect(rendered.filter((manifest) => at(manifest, "kind") === "Job")).toEqual([]);
    expect(at(manifestOf(rendered, "Ingress"), "spec.tls")).toEqual([
      { hosts: ["api.example.com"], secretName: "tls" },
    ]);
    expect(at(manifestOf(rendered, "PodMonitor"), "spec.podMetricsEndpoints.0")).toMatchObject({
      path: "/metrics",
      authorization: { credentials: { name: "other", key: "METRICS_KEY" } },
    });
  });

  test.each([
    ["a secret among the settings", "settings.SEAL_KEYS=abc"],
    ["a value that it does not have", "replica=3"],
    ["a drain that is longer than a server's", "drain.seconds=601"],
  ])("refuses %s", (_what, value) => {
    expect(() => render("--set", value)).toThrow(/values don't meet the specifications/);
  });
});

function render(...more: readonly string[]): readonly unknown[] {
  return readManifests(helm("template", "antiphon", CHART, "--kube-version", VERSION, ...more));
}

function helm(...given: readonly string[]): string {
  return execFileSync(HELM, given, { cwd: ROOT, encoding: "utf8", stdio: "pipe" });
}

function inOrder(manifests: readonly unknown[]): readonly unknown[] {
  return manifests.toSorted((a, b) => String(at(a, "kind")).localeCompare(String(at(b, "kind"))));
}

function whyNoHelm(): string | undefined {
  try {
    execFileSync(HELM, ["version"], { stdio: "ignore" });
    return undefined;
  } catch {
    return " (skipped: there is no helm; HELM names its program)";
  }
}
