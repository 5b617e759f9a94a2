import assert from "node:assert/strict";
import { chmod, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { find, local } from "mnemark/node";

import { daemon, folders } from "./servers.js";

async function place(t) {
  const where = await folders();
  const before = process.env.XDG_STATE_HOME;
  process.env.XDG_STATE_HOME = where.state;
  t.after(() => (process.env.XDG_STATE_HOME = before ?? ""));
  return { ...where, file: join(where.state, "mnemark/daemon.json") };
}

test("without a daemon there is none, and the error names the command", async (t) => {
  const { workspace } = await place(t);
  assert.equal(await find(), undefined);
  const started = Date.now();
  await assert.rejects(local({ workspace }).status(), { code: "no_daemon", fix: "start it with `mnemark serve`" });
  assert.ok(Date.now() - started < 1_000);
});

test("the running daemon is found", async (t) => {
  const where = await place(t);
  const here = await daemon(t, where);
  assert.deepEqual({ ...(await find()), version: "" }, { url: here.url, token: here.token, pid: here.pid, version: "" });
  const memory = local({ workspace: where.workspace });
  await memory.remember({ predicate: "city", value: "杭州" });
  assert.equal((await memory.facts()).facts[0].value, "杭州");
});

test("a client goes on with the daemon that was started anew, which has another token", async (t) => {
  const where = await place(t);
  const first = await daemon(t, where);
  const memory = local({ workspace: where.workspace });
  await memory.turns({ session: "s", turns: [{ role: "user", content: "The ferry leaves at nine." }] });
  await first.end();
  await assert.rejects(memory.status(), { code: "no_daemon" });
  const second = await daemon(t, where);
  assert.notEqual(second.token, first.token);
  assert.equal((await memory.said({ session: "s" })).turns.length, 1);
  await second.end("SIGKILL");
  const third = daemon(t, where);
  await assert.rejects(memory.forget({ query: "ferry" }, { retries: 0 }));
  await third;
  assert.equal((await memory.forget({ query: "ferry" })).action, "hidden");
});

test("a request that waits while the daemon is killed says so, or is answered by the next one", async (t) => {
  const where = await place(t);
  const first = await daemon(t, where);
  const memory = local({ workspace: where.workspace });
  await memory.status();
  const asked = Array.from({ length: 20 }, () => memory.sync({ embed: false }));
  await first.end("SIGKILL");
  for (const answer of await Promise.allSettled(asked)) {
    if (answer.status === "rejected") assert.match(answer.reason.code, /^(unreachable|no_daemon)$/);
  }
});

test("what a killed daemon left, or others may read, is ignored", async (t) => {
  const where = await place(t);
  const here = await daemon(t, where);
  await chmod(where.file, 0o644);
  assert.equal(await find(), undefined);
  await chmod(where.file, 0o600);
  assert.ok(await find());
  await rename(where.file, `${where.file}.real`);
  await symlink(`${where.file}.real`, where.file);
  assert.equal(await find(), undefined);
  await rename(`${where.file}.real`, where.file);
  const told = JSON.parse(await readFile(where.file, "utf8"));
  await writeFile(where.file, JSON.stringify({ ...told, pid: process.pid }));
  assert.equal(await find(), undefined, "another process has its number");
  for (const text of ["", "{", "[]", "null", '{"url": 3}']) {
    await writeFile(where.file, text);
    assert.equal(await find(), undefined, text);
  }
  await writeFile(where.file, JSON.stringify({ ...told, version: "9.0.0" }));
  await assert.rejects(local(where).status(), { code: "version", message: /9\.0\.0/ });
  await writeFile(where.file, JSON.stringify(told));
  await here.end("SIGKILL");
  assert.ok(await readFile(where.file, "utf8"));
  assert.equal(await find(), undefined);
});
