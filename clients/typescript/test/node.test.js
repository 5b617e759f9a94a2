import assert from "node:assert/strict";
import { chmod, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { find, local } from "mnemark/node";

import { daemon, here } from "./servers.js";

test("without a daemon there is none, and the error names the command", async (t) => {
  const { workspace } = await here(t);
  assert.equal(await find(), undefined);
  const started = Date.now();
  await assert.rejects(local({ workspace }).status(), { code: "no_daemon", fix: "start it with `mnemark serve`" });
  assert.ok(Date.now() - started < 1_000);
});

test("the running daemon is found", async (t) => {
  const where = await here(t);
  const running = await daemon(t, where);
  assert.deepEqual({ ...(await find()), version: "" }, { url: running.url, token: running.token, pid: running.pid, version: "" });
  const memory = local({ workspace: where.workspace });
  await memory.remember({ predicate: "city", value: "杭州" });
  assert.equal((await memory.facts()).facts[0].value, "杭州");
});

test("what a killed daemon left, or others may read, is ignored", async (t) => {
  const where = await here(t);
  const running = await daemon(t, where);
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
  await running.end("SIGKILL");
  assert.ok(await readFile(where.file, "utf8"));
  assert.equal(await find(), undefined);
});
