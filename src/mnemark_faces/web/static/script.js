// Keys, and a look for what is new. Every page works without this.
"use strict";
(() => {
  const base = document.body.dataset.base;
  // Where the pages are is known to this address alone; a bookmark, which has only a name, goes on there.
  const asked = location.pathname.match(/^\/ui(?:\/([\w-]{1,40}))?(\/[\w-]+)?$/);
  try {
    if (base) localStorage.setItem("mnemark", base.split("/w/")[0]);
    const home = localStorage.getItem("mnemark");
    if ("bookmark" in document.body.dataset && asked && home && /^\/ui\/[0-9a-f]{32}$/.test(home) && asked[0] !== home) {
      location.replace(asked[1] ? `${home}/w/${asked[1]}${asked[2] || ""}${location.search}` : home);
    }
  } catch { /* a browser that keeps nothing: the page asks for a ticket */ }
  if (!base) return;
  const rows = () => [...document.querySelectorAll("[data-row]")].filter((row) => row.getClientRects().length);
  const here = () => document.activeElement && document.activeElement.closest("[data-row]");
  const goTo = { t: "", s: "/search", l: "/timeline", f: "/facts", r: "/review", c: "/changes" };
  const keys = document.getElementById("keys");
  let waitsForPlace = false;
  // A row can be gone to by its keys, and by a click on it, but not with the tabulator.
  const ready = (rows) => { for (const row of rows) row.tabIndex = -1; };
  ready(document.querySelectorAll("[data-row]"));

  function move(step) {
    const all = rows();
    const at = all.indexOf(here());
    const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
    if (!next) return;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  function press(selector) {
    const row = here() || (rows().length && rows()[0]);
    const button = row && row.querySelector(selector);
    if (button) button.click();
  }

  function mark(right) {
    const row = here() || (rows().length && rows()[0]);
    const box = row && row.querySelector("[data-mark]");
    if (!box) return false;
    box.checked = right;
    if (here()) move(1); else row.focus({ preventScroll: true });
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const field = event.target.closest("input, textarea, select, dialog");
    if (field && !field.matches("[type=checkbox]")) {
      if (event.key === "Escape" && field.matches("input")) field.blur();
      return;
    }
    if (waitsForPlace) {
      waitsForPlace = false;
      if (event.key in goTo) { event.preventDefault(); location.assign(base + goTo[event.key]); }
      return;
    }
    const does = {
      "/": () => { const input = document.querySelector("[data-search]"); input ? input.focus() : location.assign(base + "/search"); },
      "?": () => keys.showModal(),
      j: () => move(1),
      k: () => move(-1),
      g: () => { waitsForPlace = true; },
      y: () => mark(true) || press("[data-accept]"),
      n: () => mark(false) || press("[data-reject]"),
      e: () => press("[data-edit]"),
      u: () => { const form = document.querySelector(".message form"); if (form) form.requestSubmit(); },
      Enter: () => {
        const row = event.target.matches("[data-row]") && event.target;
        const link = row && row.querySelector(".words a, a.words, a");
        if (link) location.assign(link.href); else return false;
      },
    }[event.key];
    if (does && does() !== false) event.preventDefault();
  });

  for (const button of document.querySelectorAll("[data-keys]")) {
    button.hidden = false;
    button.addEventListener("click", () => keys.showModal());
  }

  // After a decision the page stays where it was, and the next entry is under the keys.
  const place = "place " + location.pathname;
  const top = (element) => element.getBoundingClientRect().top;
  const title = document.querySelector("h1");  // what stands above it, such as a message, comes and goes
  document.addEventListener("submit", (event) => {
    const row = event.submitter && event.submitter.closest("[data-row]");
    sessionStorage.setItem(place, JSON.stringify({ title: title ? top(title) : 0, row: row && top(row), y: scrollY }));
  });
  const before = JSON.parse(sessionStorage.getItem(place));
  sessionStorage.removeItem(place);
  const marked = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const isRow = marked && marked.matches("[data-row]");
  const stay = () => {
    if (!before) return;
    if (!before.y) scrollTo(0, 0);
    else if (title) scrollBy(0, isRow && before.row !== null ? top(marked) - before.row : top(title) - before.title);
    if (isRow) marked.scrollIntoView({ block: "nearest" });
  };
  const next = isRow ? marked : /^#r\d+$/.test(location.hash) && rows().at(-1);
  if (next) next.focus({ preventScroll: !!before });
  stay();
  addEventListener("load", stay);  // the browser goes to the marked entry by itself
  const opened = document.querySelector(".correct [name=value]");
  if (opened) opened.select();

  // What opens in its place: the row that the link names is taken from the page behind it.
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-place]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const id = decodeURIComponent(link.hash.slice(1));
    const old = document.getElementById(id);
    if (!old) return;
    event.preventDefault();
    const answer = await fetch(link.href).catch(() => ({ ok: false }));
    const fresh = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(id);
    if (!fresh) { location.assign(link.href); return; }
    old.replaceWith(fresh);
    ready([fresh]);
    const value = fresh.querySelector("[name=value]");
    (value || fresh).focus({ preventScroll: true });
    if (value) value.select();
    fresh.scrollIntoView({ block: "nearest" });
  });

  // A choice in a bar of filters shows what it chooses; the slider is another way to say a day.
  for (const form of document.querySelectorAll("form[data-live]")) {
    form.addEventListener("change", (event) => { if (event.target.matches("select, [type=range]")) form.requestSubmit(); });
    const slider = form.querySelector("[type=range]");
    const field = form.querySelector("[type=date]");
    if (!slider || !field) continue;
    const day = 86400000;
    const [first, last] = [Date.parse(slider.dataset.first), Date.parse(slider.dataset.last)];
    if (!(first < last)) continue;
    slider.max = Math.round((last - first) / day);
    slider.value = Math.round(((Date.parse(field.value) || last) - first) / day);
    slider.hidden = false;
    slider.addEventListener("input", () => {
      const at = new Date(first + slider.value * day).toISOString().slice(0, 10);
      field.value = at === slider.dataset.last ? "" : at;
      slider.setAttribute("aria-valuetext", at);
    });
  }

  // Parts that take longer than the page: it has a link to them, which is followed here.
  async function later(part) {
    const answer = await fetch(part.dataset.later);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = answer.ok && page.getElementById(part.id);
    if (!fresh) return;
    const again = part.hasAttribute("aria-busy") && fresh.dataset.later;
    part.replaceWith(fresh);
    ready(fresh.querySelectorAll("[data-row]"));
    if (again) setTimeout(() => later(fresh).catch(() => {}), 1000);
  }
  for (const part of document.querySelectorAll("[data-later]")) later(part).catch(() => {});

  // A file that is sent: how far it is, and dropping it anywhere on the page.
  const sending = document.querySelector("[data-upload]");
  if (sending) {
    const input = sending.querySelector("[type=file]");
    const bar = sending.querySelector("progress");
    sending.addEventListener("submit", (event) => {
      event.preventDefault();
      const request = new XMLHttpRequest();
      request.open("POST", sending.action);
      request.upload.onprogress = (at) => { if (at.lengthComputable) bar.value = at.loaded / at.total; };
      request.onload = () => {
        if (request.status < 400) { location.assign(`${request.responseURL}#result`); location.reload(); return; }
        const page = new DOMParser().parseFromString(request.responseText, "text/html");
        fail(page.querySelector("main [role=alert]"));
      };
      request.onerror = () => fail(null);
      bar.hidden = false;
      sending.querySelector("button").disabled = true;
      request.send(new FormData(sending));
    });
    const fail = (why) => {
      bar.hidden = true;
      sending.querySelector("button").disabled = false;
      const told = sending.querySelector("[role=alert]") || document.createElement("p");
      told.setAttribute("role", "alert");
      told.className = "warning";
      told.textContent = why ? why.textContent : sending.dataset.upload;
      sending.append(told);
    };
    document.addEventListener("dragover", (event) => { event.preventDefault(); sending.classList.add("over"); });
    document.addEventListener("dragleave", () => sending.classList.remove("over"));
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      sending.classList.remove("over");
      if (!event.dataTransfer.files.length) return;
      input.files = event.dataTransfer.files;
      sending.requestSubmit();
    });
  }

  const newer = document.querySelector("[data-newer]");
  if (newer) {
    const address = base.replace("/w/", "/newer/");
    const look = async () => {
      if (document.visibilityState !== "visible") return;
      const answer = await fetch(`${address}?first=${encodeURIComponent(newer.dataset.newer)}`);
      if (answer.ok && (await answer.json()).newer) { newer.hidden = false; clearInterval(timer); }
      if (!answer.ok) clearInterval(timer);
    };
    const timer = setInterval(() => look().catch(() => clearInterval(timer)), 5000);
  }
})();
