// Keys, and a look for what is new. Every page works without this.
"use strict";
(() => {
  const base = document.body.dataset.base;
  if (!base) return;
  const rows = () => [...document.querySelectorAll("[data-row]")];
  const here = () => document.activeElement && document.activeElement.closest("[data-row]");
  const goTo = { t: "", s: "/search", l: "/timeline", f: "/facts", r: "/review", c: "/changes" };
  const keys = document.getElementById("keys");
  let waitsForPlace = false;

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

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const field = event.target.closest("input, textarea, select, dialog");
    if (field) {
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
      y: () => press("[data-accept]"),
      n: () => press("[data-reject]"),
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

  // After a decision the next entry is under the keys.
  if (/^#r\d+$/.test(location.hash)) {
    const all = rows();
    const next = document.querySelector(location.hash) || all[all.length - 1];
    if (next) next.focus();
  }

  // Parts that take longer than the page: it has a link to them, which is followed here.
  async function later(part) {
    const answer = await fetch(part.dataset.later);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = answer.ok && page.getElementById(part.id);
    if (!fresh) return;
    const again = part.hasAttribute("aria-busy") && fresh.dataset.later;
    part.replaceWith(fresh);
    if (again) setTimeout(() => later(fresh).catch(() => {}), 1000);
  }
  for (const part of document.querySelectorAll("[data-later]")) later(part).catch(() => {});

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
