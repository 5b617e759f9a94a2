import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { Mnemark, MnemarkError, TOOLS } from "mnemark";

import { connected, proxy, server, whole } from "./servers.js";

/** The properties that an error should have. */
const failing = (code, status, more = {}) => (error) => {
  assert.ok(error instanceof MnemarkError, String(error?.stack ?? error));
  assert.deepEqual([error.code, error.status], [code, status], error.message);
  assert.ok(error.fix.length > 5 && !error.fix.includes("\n"), error.fix);
  for (const [key, value] of Object.entries(more)) assert.match(error[key], value);
  return true;
};
const json = (response, status, body, headers = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
/** A server that gives these answers one after the other, the last for ever, and counts. */
async function scripted(t, ...answers) {
  const asked = [];
  const url = await server(t, (request, response) => {
    request.resume().on("end", () => {
      asked.push(Date.now());
      answers[Math.min(asked.length, answers.length) - 1](response, request);
    });
  });
  return { asked, memory: new Mnemark({ url, workspace: "/w", timeoutMs: 5_000 }) };
}
const done = (response) => json(response, 200, { facts: [] });

describe("with a daemon", () => {
  let here;
  let memory;
  const all = whole();
  before(async () => ({ here, memory } = await connected(all)));

  test("what was said is recalled in the next conversation, in two languages", async () => {
    await memory.turns({ session: "one", turns: [{ role: "user", content: "The staging server is called Kestrel." }] });
    await memory.turns({ session: "one", turns: [{ role: "user", content: "数据库备份每天凌晨三点开始。😀" }] });
    const english = await memory.recall({ query: "What is the staging server called?", session: "two", deadline: 60 });
    assert.match(english.text, /Kestrel/);
    const chinese = await memory.recall({ query: "备份几点开始？", session: "two", deadline: 60 });
    assert.match(chinese.text, /凌晨三点/);
    const { hits } = await memory.search({ query: "Kestrel", k: 1 });
    assert.equal(hits[0].origin, "owner");
  });

  test("facts are remembered, corrected, forgotten and brought back", async () => {
    await memory.remember({ predicate: "city", value: "Leeds" });
    const wrong = await memory.remember({ predicate: "dentist", value: "Dr Sousa" });
    assert.equal((await memory.correct({ ref: wrong.id, value: "Dr Costa" })).after.value, "Dr Costa");
    const { facts } = await memory.facts({ subject: "user" });
    assert.deepEqual(facts.map((fact) => fact.value).sort(), ["Dr Costa", "Leeds"]);
    const city = facts.find((fact) => fact.predicate === "city");
    assert.equal((await memory.forget({ ref: `${city.path}#L${city.line}` })).action, "hidden");
    assert.equal((await memory.facts()).facts.length, 1);
    assert.equal((await memory.undo()).undone[0].what, "forget");
    assert.equal((await memory.facts()).facts.length, 2);
  });

  test("notes, lists and states are typed as the API has them", async () => {
    assert.equal((await memory.write({ text: "Ann keeps the spare key." })).status, "written");
    assert.ok((await memory.timeline({ limit: 1 })).entries[0].ref);
    assert.equal((await memory.status()).workspace, here.workspace);
    assert.equal((await memory.endSession({ session: "one" })).status, "ended");
    assert.equal((await memory.browse.sessions()).rows[0].session, "one");
    assert.equal((await memory.health()).name, "mnemark");
    const { structuredContent } = await memory.tool("memory_search", { query: "spare key" });
    assert.match(JSON.stringify(structuredContent), /Ann keeps/);
  });

  test("there is a method for each call of the API, which repeats what may be repeated", async () => {
    const asked = await fetch(`${here.url}/openapi.json`, { headers: { authorization: `Bearer ${here.token}` } });
    const { paths } = await asked.json();
    const names = Object.keys(paths).flatMap((path) => (path.startsWith("/v1/") ? [path.slice(4)] : []));
    assert.deepEqual(TOOLS.map((tool) => `tools/${tool.name}`), names.filter((name) => name.startsWith("tools/")));
    const repeated = names.filter((name) => !name.startsWith("ui/")).map(async (name) => {
      let times = 0;
      const lose = () => (times++, Promise.reject(new Error("lost")));
      const lost = new Mnemark({ url: here.url, workspace: "/w", retries: 1, fetch: lose });
      const [room, method] = name.split("/");
      const rooms = { tools: () => lost.tool(method, {}), session: () => lost.endSession({ session: "s" }) };
      const call = rooms[room] ?? (() => (method ? lost[room][method] : lost[name])({}));
      await assert.rejects(call(), failing("unreachable", 0));
      assert.equal(times > 1, paths[`/v1/${name}`].post["x-idempotent"], name);
    });
    await Promise.all(repeated);
    assert.ok(repeated.length > 40);
  });

  test("a turn whose answer was lost is sent again and kept once", async (t) => {
    const before = await proxy(t, here, 2);
    const through = new Mnemark({ url: before.url, workspace: here.workspace });
    const kept = await through.turns({ session: "lost", turns: [{ role: "user", content: "迷路的消息" }] });
    assert.equal(before.seen.length, 3);
    const { turns } = await memory.said({ session: "lost" });
    assert.deepEqual(turns.map(({ turn }) => turn.id), [kept.turns[0].id]);
  });

  test("a page asks a server of its own, which has the token; the daemon refuses pages", async (t) => {
    const own = await proxy(t, here);
    assert.ok(await new Mnemark({ url: own.url, workspace: here.workspace }).status());
    const fromPage = (request) => {
      request.headers.set("origin", "https://app.example");
      return fetch(request);
    };
    await assert.rejects(new Mnemark({ ...here, fetch: fromPage }).status(), failing("origin", 403, { fix: /server/ }));
  });

  test("what is wrong is said with what to do", async () => {
    await assert.rejects(new Mnemark({ ...here, token: "wrong" }).status(), failing("token", 401, { fix: /again/ }));
    await assert.rejects(new Mnemark({ ...here, token: "密码" }).status(), failing("usage", 0, { message: /sent to/ }));
    await assert.rejects(new Mnemark({ ...here, workspace: "/none/such" }).status(), failing("not_found", 404, { fix: /mnemark init/ }));
    await assert.rejects(new Mnemark({ ...here, workspace: "agent" }).status(), failing("usage", 400));
    await assert.rejects(memory.tool("../search", {}), failing("path", 400));
    assert.throws(() => new Mnemark({ workspace: "/w" }), failing("usage", 0, { fix: /local/ }));
    await assert.rejects(new Mnemark({ ...here, url: "127.0.0.1" }).status(), failing("usage", 0));
    await assert.rejects(memory.search({ qeury: "x" }), failing("usage", 400, { message: /query|qeury/ }));
    await assert.rejects(memory.read({ ref: "../x" }), failing("usage", 400));
    await assert.rejects(memory.facts({}, { timeoutMs: 0 }), failing("usage", 0));
    const large = { session: "s", turns: [{ role: "user", content: "长".repeat(3_000_000) }] };
    await assert.rejects(memory.turns(large), failing("size", 413));
    await assert.rejects(memory.observe({ session: "s", tool: "exec", result: 1n }), failing("usage", 0));
  });

  test("texts that others choke on come back as they were", async () => {
    const odd = ["a".repeat(1_000_000), "tab\tquote\"back\\slash", "مرحبا 👩‍👩‍👧 नमस्ते"];
    await memory.turns({ session: "odd", turns: odd.map((content) => ({ role: "user", content })) });
    await memory.turns({ session: "odd", turns: [{ role: "user", content: "cut \ud83d" }] });
    const { turns } = await memory.said({ session: "odd" });
    assert.deepEqual(turns.map(({ turn }) => turn.content), [...odd, "cut \ufffd"]);
  });
});

describe("a call that fails", () => {
  test("is repeated after 503 and 429, not before Retry-After", async (t) => {
    const busy = (response) => json(response, 429, { error: { code: "limit", message: "slow down" } }, { "retry-after": "1" });
    const full = (response) => response.writeHead(503).end("Service Unavailable");
    const { memory, asked } = await scripted(t, full, busy, done);
    assert.deepEqual(await memory.facts(), { facts: [] });
    assert.equal(asked.length, 3);
    assert.ok(asked[2] - asked[1] >= 990, `${asked[2] - asked[1]} ms`);
  });

  test("is not repeated where that could do it twice, or once more than is allowed", async (t) => {
    const full = await scripted(t, (response) => response.writeHead(503).end());
    await assert.rejects(full.memory.forget({ query: "x" }), failing("http", 503));
    assert.equal(full.asked.length, 1);
    await assert.rejects(full.memory.facts({}, { retries: 2 }), failing("http", 503));
    assert.equal(full.asked.length, 4);
  });

  test("ends at once where the server asks to wait longer than there is time", async (t) => {
    const { memory, asked } = await scripted(t, (response) => response.writeHead(429, { "retry-after": "60" }).end());
    await assert.rejects(memory.facts(), failing("http", 429));
    assert.equal(asked.length, 1);
  });

  test("is repeated where the connection is cut, and says so in the end", async (t) => {
    const cut = (response) => response.socket.destroy();
    const passing = await scripted(t, cut, cut, done);
    assert.deepEqual(await passing.memory.facts(), { facts: [] });
    const lasting = await scripted(t, cut);
    await assert.rejects(lasting.memory.facts(), failing("unreachable", 0, { fix: /mnemark serve/ }));
    assert.equal(lasting.asked.length, 4);
  });

  test("ends in time", async (t) => {
    const { memory } = await scripted(t, () => {});
    const started = Date.now();
    await assert.rejects(memory.facts({}, { timeoutMs: 200 }), failing("timeout", 0, { message: /200 ms/ }));
    assert.ok(Date.now() - started < 2_000);
  });

  test("ends with the reason of its signal, also between two tries", async (t) => {
    const hanging = await scripted(t, () => {});
    const reason = new Error("the user went away");
    await assert.rejects(hanging.memory.facts({}, { signal: AbortSignal.abort(reason) }), reason);
    assert.equal(hanging.asked.length, 0);
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 50);
    await assert.rejects(hanging.memory.facts({}, { signal: controller.signal }), reason);
    const waiting = await scripted(t, (response) => response.writeHead(503, { "retry-after": "4" }).end());
    const signal = AbortSignal.timeout(50);
    await assert.rejects(waiting.memory.facts({}, { signal }), { name: "TimeoutError" });
  });

  test("waits for its turn where there are many, and no longer than it may", async (t) => {
    let open = 0;
    let most = 0;
    const slow = (response) => {
      most = Math.max(most, ++open);
      setTimeout(() => (open--, done(response)), 20);
    };
    const { memory, asked } = await scripted(t, slow);
    await Promise.all(Array.from({ length: 200 }, () => memory.facts({}, { timeoutMs: 60_000 })));
    assert.deepEqual([asked.length, most <= 50], [200, true]);
    const hanging = await scripted(t, () => {});
    const controller = new AbortController();
    const options = { signal: controller.signal, timeoutMs: 60_000 };
    const all = Promise.allSettled(Array.from({ length: 60 }, () => hanging.memory.facts({}, options)));
    while (hanging.asked.length < 50) await new Promise((resolve) => setTimeout(resolve, 10));
    controller.abort("enough");
    assert.deepEqual(new Set((await all).map(({ reason }) => reason)), new Set(["enough"]));
    assert.equal(hanging.asked.length, 50);
  });

  test("says that the program there is another one", async (t) => {
    const page = await scripted(t, (response) => response.writeHead(200).end("<html>"));
    await assert.rejects(page.memory.facts(), failing("answer", 200));
    const gateway = await scripted(t, (response) => response.writeHead(502).end("<html>"));
    await assert.rejects(gateway.memory.facts(), failing("http", 502));
    const elsewhere = await scripted(t, (response) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end());
    await assert.rejects(elsewhere.memory.facts({}, { retries: 0 }), failing("unreachable", 0));
  });
});
