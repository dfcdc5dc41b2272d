import { dirname } from "node:path";
import { expect, test } from "vitest";
import { whySkipped } from "../deploy/programs.ts";
import { engineForTests } from "../embedded-model/language-engine.ts";
import { tinyModelFile } from "../embedded-model/model-server.ts";
import { bootMachine, type Machine } from "./machine.ts";

/** `make systemd-test` sets it: the first time it unpacks a Debian, and each time it boots one. */
const isAsked = process.env["SYSTEMD_TEST"] === "1";
const missing = whySkipped("unshare", "nsenter", "debootstrap", "npm", "ip");
const TEST_TIMEOUT_MS = 1_800_000;
const WAIT = { timeout: 300_000, interval: 500 };
/** Longer than DRAIN_MS, and than an upgrade takes on a slow machine. */
const STREAM_MS = 150_000;
const SCENARIO = `
scenarios:
  - when: { input_contains: slow }
    events:
      - text: One
      - delay_ms: ${STREAM_MS}
      - text: " two"
`;
const API = "http://127.0.0.1:8080";

test.skipIf(!isAsked || missing !== "")(
  `a fresh Debian installs the service, which restarts, is upgraded, backed up, restored and removed${missing}`,
  async () => {
    const machine = await bootMachine(await modelFiles());
    const key = await installs(machine);
    const before = await create(machine, key, { input: "Say kept" });
    await isHardened(machine);
    await readsCredentials(machine);
    await startsByItsSocket(machine, key);
    await runsModel(machine, key);
    await machine.write("/etc/antiphon/scenario.yaml", SCENARIO);
    await machine.do("echo SCENARIO_FILE=/etc/antiphon/scenario.yaml >>/etc/antiphon/.env");
    await machine.do("sed -i s/^DRAIN_MS=.*/DRAIN_MS=5s/ /etc/antiphon/.env && systemctl restart antiphon");
    await isUpgraded(machine, key);
    await comesBackAfterDeath(machine, key);
    await isBackedUp(machine, key, before);
    await isRemoved(machine);
  },
  TEST_TIMEOUT_MS,
);

/** Returns the first API key. */
async function installs(machine: Machine): Promise<string> {
  await machine.do("echo offline=true >>/srv/.npmrc"); // The machine has no network, but npm has what it needs.
  const said = await machine.do("/srv/antiphon/deploy/install.sh");
  await expect.poll(() => stateOf(machine, "ActiveState"), WAIT).toBe("active");
  expect(await stateOf(machine, "StatusText")).toMatch(/^Serving \S+ with 2 processes$/);
  expect(await machine.do(`curl -sf ${API}/readyz`)).toContain('"status": "ok"');
  expect(await machine.do("/srv/antiphon/deploy/install.sh")).toMatch(/is installed\ninstall\.sh: done$/);
  return /^sk-\S+$/m.exec(said)?.[0] ?? "";
}

async function isHardened(machine: Machine): Promise<void> {
  const exposure = await machine.do("systemd-analyze security --no-pager antiphon.service | tail -1");
  expect(Number(/: ([\d.]+) /.exec(exposure)?.[1])).toBeLessThanOrEqual(1.5);
  expect(await machine.do(`stat -c %U /proc/${await stateOf(machine, "MainPID")}`)).toBe("antiphon");
}

async function readsCredentials(machine: Machine): Promise<void> {
  const secret = "sk-from-a-credential-0123456789";
  await machine.do(`echo '${secret}=acme/web' >/etc/antiphon/credentials/API_KEYS && systemctl restart antiphon`);
  expect(await machine.do(`curl -sf -H 'authorization: Bearer ${secret}' ${API}/v1/models`)).toContain("data");
  expect((await machine.run(`grep -l ${secret} /proc/[0-9]*/environ`)).output).not.toContain("/proc/");
  await machine.do("rm /etc/antiphon/credentials/API_KEYS && systemctl restart antiphon");
}

async function startsByItsSocket(machine: Machine, key: string): Promise<void> {
  await machine.do("systemctl stop antiphon.service");
  expect(await stateOf(machine, "ActiveState")).toBe("inactive");
  expect(await machine.do(`curl -sf -m 60 -H 'authorization: Bearer ${key}' ${API}/v1/models`)).toContain("data");
  await expect.poll(() => stateOf(machine, "ActiveState"), WAIT).toBe("active"); // The first process serves earlier.
}

const ENGINE = engineForTests();
const MODEL_FOLDER = "/srv/model";

/** A model of random weights with the engine that runs it, if this machine has that. */
async function modelFiles(): Promise<Readonly<Record<string, string>>> {
  if (ENGINE === null) return {};
  return { [`${MODEL_FOLDER}/engine`]: ENGINE, [`${MODEL_FOLDER}/tiny.gguf`]: await tinyModelFile() };
}

/** A language model in the service: it is ready once the model is loaded, and the child is as confined as the unit. */
async function runsModel(machine: Machine, key: string): Promise<void> {
  if (ENGINE === null) return;
  const folder = "/var/lib/antiphon/language-model";
  const owned = `cp -r ${MODEL_FOLDER} ${folder} && chown -R antiphon:antiphon ${folder}`;
  const dropIn = "/run/systemd/system/antiphon.service.d/model.conf";
  await machine.do(`${owned} && mkdir -p ${dirname(dropIn)}`);
  await machine.write(dropIn, `[Service]\nEnvironment=PROCESSES=1 MODEL_FILE=${folder}/tiny.gguf\n`);
  await machine.do("systemctl daemon-reload && systemctl restart antiphon");
  await expect.poll(() => machine.run(`curl -sf ${API}/readyz`), WAIT).toMatchObject({ code: 0 });
  expect(await create(machine, key, { model: "embedded", input: "Hello", max_output_tokens: 20 })).toContain(
    "output_text",
  );
  const child = await machine.do("pgrep -f '[e]mbedded-model/child/main' | head -1");
  expect(await machine.do(`stat -c %U /proc/${child}`)).toBe("antiphon");
  expect(await machine.do(`grep -c ^NoNewPrivs:.1 /proc/${child}/status`)).toBe("1");
  await machine.do(`rm ${dropIn} && systemctl daemon-reload && systemctl restart antiphon`);
}

/** Asks for long answers of each kind, works meanwhile, and looks that nothing failed. */
async function keepsStreamsOver(machine: Machine, key: string, command: string): Promise<void> {
  const main = await stateOf(machine, "StatusText");
  const post = (more: object) => create(machine, key, { input: "slow", ...more });
  const open = [post({ stream: true }), post({ stream: true }), post({})];
  const watched = JSON.parse(await post({ background: true })).id;
  await machine.do("rm -f /srv/is-over && sleep 5");
  const work = machine.do(WORK.replaceAll("KEY", key));
  console.log(`${main}; ${command}\n${await machine.do(command)}`);
  for (const text of await Promise.all(open)) expect(text).toMatch(/One two/);
  const status = async () =>
    JSON.parse(await machine.do(`curl -s -H 'authorization: Bearer ${key}' ${API}/v1/responses/${watched}`)).status;
  await expect.poll(status, WAIT).toBe("completed");
  await machine.do("touch /srv/is-over");
  const statuses = (await work).split("\n").filter((line) => line !== "");
  console.log(`${statuses.length} requests meanwhile`);
  expect(new Set(statuses)).toEqual(new Set(["200"]));
}

/** Requests on new connections until told to stop. Prints the status of each. */
const WORK = `while [ ! -e /srv/is-over ]; do
  curl -s -o /dev/null -w '%{http_code}\\n' -m 60 -H 'authorization: Bearer KEY' ${API}/v1/models; done`;

async function isUpgraded(machine: Machine, key: string): Promise<void> {
  await machine.do(`cd /srv/antiphon && sed -i 's/^  "version": ".*"/  "version": "9.9.9"/' package.json`);
  await keepsStreamsOver(machine, key, "/srv/antiphon/deploy/install.sh");
  expect(await stateOf(machine, "StatusText")).toBe("Serving 9.9.9 with 2 processes");
  const primaries = () => machine.do("pgrep -fc ^/opt/antiphon/current/ || true");
  await expect.poll(primaries, WAIT).toBe("1"); // The old one has ended.
}

async function comesBackAfterDeath(machine: Machine, key: string): Promise<void> {
  const main = await stateOf(machine, "MainPID");
  await machine.do(`kill -9 ${main}`);
  await expect.poll(() => stateOf(machine, "NRestarts"), WAIT).not.toBe("0");
  expect(await machine.do(`curl -sf -m 60 -H 'authorization: Bearer ${key}' ${API}/v1/models`)).toContain("data");
  expect(await stateOf(machine, "MainPID")).not.toBe(main);
}

async function isBackedUp(machine: Machine, key: string, before: string): Promise<void> {
  await machine.do("systemctl start antiphon-backup.service");
  const backup = await machine.do("ls -d /var/backups/antiphon/antiphon-*");
  const read = () =>
    machine.do(`curl -s -H 'authorization: Bearer ${key}' ${API}/v1/responses/${JSON.parse(before).id}`);
  const answer = await read();
  await machine.do("systemctl stop antiphon antiphon.socket antiphon-speech.socket");
  await machine.do(`antiphon restore ${backup} --replace`);
  await machine.do("systemctl start antiphon.socket antiphon-speech.socket antiphon");
  expect(await read()).toBe(answer);
  expect(await stateOf(machine, "Result")).toBe("success");
}

async function isRemoved(machine: Machine): Promise<void> {
  expect(await machine.do("/srv/antiphon/deploy/install.sh --uninstall")).toContain("removed");
  expect((await machine.run(`curl -s ${API}/readyz`)).code).not.toBe(0);
  expect(await machine.do("ls /var/lib/antiphon")).toContain("antiphon.db");
  expect((await machine.run("systemctl list-unit-files 'antiphon*' --no-legend")).output.trim()).toBe("");
}

function stateOf(machine: Machine, property: string): Promise<string> {
  return machine.do(`systemctl show -P ${property} antiphon.service`);
}

/** Creates a response. Returns the body. */
function create(machine: Machine, key: string, more: object): Promise<string> {
  const body = JSON.stringify({ model: "antiphon-built-in", ...more });
  const headers = `-H 'authorization: Bearer ${key}' -H 'content-type: application/json'`;
  return machine.do(`curl -sf -m 600 ${headers} -d '${body}' ${API}/v1/responses`);
}
