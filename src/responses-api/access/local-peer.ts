const LOOPBACK_ADDRESS = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/i;
const PROXY_HEADER = /^(?:forwarded|via|x-real-ip|x-forwarded-.*)$/;

/** Whether a connection comes from this machine. */
export function isLoopbackAddress(address: string): boolean {
  return LOOPBACK_ADDRESS.test(address);
}

/** Whether a proxy announces itself in the headers. Clients can fake this, too. */
export function namesProxy(headers: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(headers).some((name) => PROXY_HEADER.test(name));
}
