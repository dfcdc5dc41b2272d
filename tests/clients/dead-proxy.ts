const NOWHERE = "http://127.0.0.1:9";

/** Variables that keep a program from calling any server but those on this machine. */
export const DEAD_PROXY = { HTTPS_PROXY: NOWHERE, HTTP_PROXY: NOWHERE, NO_PROXY: "127.0.0.1" } as const;
