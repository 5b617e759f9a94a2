/** Servers for the tests: a real daemon in folders of its own, and small ones that misbehave. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdir, mkdtemp, readFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";

import { Mnemark } from "mnemark";

/** Folders for a daemon's state and workspace, removed when all daemons have ended. */
export async function folders() {
  const folder = await mkdtemp(join(tmpdir(), "mnemark-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const workspace = join(folder, "workspace");
  await mkdir(workspace);
  return { state: join(folder, "state"), workspace, home: folder };
}

/** The same, where this process looks for its user's daemon. */
export async function here(t) {
  const where = await folders();
  const before = process.env.XDG_STATE_HOME;
  process.env.XDG_STATE_HOME = where.state;
  t.after(() => (process.env.XDG_STATE_HOME = before ?? ""));
  return { ...where, file: join(where.state, "mnemark/daemon.json") };
}

/** Start a daemon; it is ended with the test, or by `end`. */
export async function daemon(t, { state, workspace, home }) {
  const env = { ...process.env, XDG_STATE_HOME: state, HOME: home, MNEMARK_WORKSPACE: "", XDG_CONFIG_HOME: home };
  const child = spawn(process.env.PYTHON ?? "python3", ["-m", "mnemark", "serve", "--json"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  const end = async (signal = "SIGTERM") => (child.kill(signal), await gone);
  t.after(() => end());
  const lines = createInterface({ input: child.stdout });
  await Promise.race([once(lines, "line"), gone.then(([code]) => Promise.reject(new Error(`daemon ended: ${code}`)))]);
  const { url, token } = JSON.parse(await readFile(join(state, "mnemark/daemon.json"), "utf8"));
  return { url, token, workspace, pid: child.pid, end };
}

/** What ends with a file of tests or a group, as `t` does with a test. */
export function whole() {
  const endings = [];
  after(() => Promise.all(endings.map((end) => end())));
  return { after: (end) => endings.push(end) };
}

/** A daemon in folders of its own, and a client of it. */
export async function connected(t) {
  const here = await daemon(t, await folders());
  return { here, memory: new Mnemark(here) };
}

/** What a session has, a line a turn. */
export async function recorded(memory, session) {
  return (await memory.said({ session })).turns.map(({ turn }) => `${turn.role}: ${turn.content}`);
}

/** Have the daemon load what it needs: what is tried with the shipped deadline is not its start. */
export async function warmed(memory) {
  for (const content of ["The kettle is on the stove.", "水壶在炉子上。"]) {
    await memory.turns({ session: "warm", turns: [{ role: "user", content }] });
    await memory.recall({ query: content, session: "other", deadline: 60 });
  }
}

/** Serve with `handler`; returns the address. */
export async function server(t, handler) {
  const listener = createServer(handler).listen(0, "127.0.0.1");
  await once(listener, "listening");
  t.after(() => (listener.closeAllConnections(), listener.close()));
  return `http://127.0.0.1:${listener.address().port}`;
}

/** A proxy before a daemon, as an application has one for its pages. `lose` drops that many answers. */
export async function proxy(t, { url, token }, lose = 0) {
  const seen = [];
  const address = await server(t, (incoming, outgoing) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const onward = request(url + incoming.url, { method: incoming.method, headers }, async (answer) => {
      const chunks = await answer.toArray();
      seen.push(incoming.url);
      if (seen.length <= lose) return incoming.socket.destroy();
      outgoing.writeHead(answer.statusCode, { "content-type": "application/json" }).end(Buffer.concat(chunks));
    });
    incoming.pipe(onward);
  });
  return { url: address, seen };
}
