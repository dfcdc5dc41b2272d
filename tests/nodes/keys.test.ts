import { silentLogger } from "@antiphon/base/logger.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { NotifyBroker } from "../../src/bus/brokers/notify-broker.ts";
import { readMessage } from "../../src/bus/bus-message.ts";
import { EVERYONE, silentBusObserver } from "../../src/bus/ports.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { tellKeysChanged } from "../../src/servers/choices/choose-bus.ts";
import { databaseOfTest } from "../services/services-of-run.ts";
import { whyNoNodes } from "./nodes.ts";

describe.skipIf(whyNoNodes() !== undefined)("a command that changes keys", () => {
  test("tells all servers of the database, which then forget the keys that they know", async () => {
    const url = await databaseOfTest();
    const broker = new NotifyBroker({ url, observer: silentBusObserver, log: silentLogger });
    onTestFinished(() => broker.close());
    const heard: unknown[] = [];
    broker.open((text) => void heard.push(readMessage(text)));
    broker.join(EVERYONE);
    await expect.poll(() => broker.isConnected, { timeout: 10_000 }).toBe(true);
    await tellKeysChanged(loadConfig({ DATABASE_URL: url }, []));
    await expect.poll(() => heard).toEqual([{ type: "keys" }]);
  });
});
