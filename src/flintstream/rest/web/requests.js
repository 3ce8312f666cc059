// Requests to the server.

export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

// The server gives the key to the page when the address with its token is opened. It accepts it together with a cookie.
export function takeKey() {
  const given = /^#key=([\w-]+)/.exec(location.hash);
  if (given) {
    localStorage.setItem("key", given[1]);
    history.replaceState(null, "", location.pathname);
  }
}

export async function ask(path, method = "GET", body = undefined) {
  const headers = { Accept: "application/json", "Flintstream-Key": localStorage.getItem("key") || "" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const reply = await fetch(`v1${path}`, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
  });
  const told = await reply.json().catch(() => null);
  if (!reply.ok) throw new Refused(reply.status, told?.errors ? told.errors.join("\n") : reply.statusText);
  return told;
}
