import net from "node:net";

/** Preloaded into a program: prints every address it connects to. The program behaves as usual. */
const connect: unknown = Reflect.get(net.Socket.prototype, "connect");
if (typeof connect !== "function") throw new Error("sockets do not connect");
Reflect.set(net.Socket.prototype, "connect", new Proxy(connect, { apply: tellCall }));

function tellCall(target: (...call: unknown[]) => unknown, socket: unknown, call: unknown[]): unknown {
  console.log(`calls ${JSON.stringify(call)}`);
  return Reflect.apply(target, socket, call);
}
