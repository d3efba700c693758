// The page: everything comes from /api, nothing is put in as HTML, and every
// text for a person comes from the server in the person's language.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);
let texts = {};
let leave = () => {};

// Elements, without a library: el("p.hint", {id: "x"}, "text", child).
function el(name, props, ...children) {
  const [tag, ...classes] = name.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  for (const [key, value] of Object.entries(props || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child != null && child !== false));
  return node;
}
function svg(tag, props, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(props || {})) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
function put(parent, ...children) {
  parent.replaceChildren(...children.filter((child) => child != null && child !== false));
}
// A text by its name, with {0}, {1}… filled in.
const t = (name, ...values) =>
  (texts[name] ?? name).replace(/\{(\d)\}/g, (_, i) => String(values[i] ?? ""));
const say = (text) => { $("said").textContent = text; };

function time(ms) {
  if (ms == null) return "–";
  if (ms < 1000) return `${ms} ${t("ms")}`;
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} ${t("s")}`;
  const m = Math.floor(s / 60);
  if (m < 60) return `${m} ${t("min")} ${s % 60} ${t("s")}`;
  return `${Math.floor(m / 60)} ${t("h")} ${m % 60} ${t("min")}`;
}
const clock = (ms) => new Date(ms).toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const date = (ms) => new Date(ms).toLocaleString(document.documentElement.lang, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
function dollars(usd, more) {
  if (usd == null) return t("unknown");
  const text = usd > 0 && usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
  return more ? `≥ ${text}` : text;
}
const count = (n) => (n == null ? t("unknown") : n.toLocaleString(document.documentElement.lang));
const bar = (done, total) => {
  const percent = total ? Math.floor((done * 100) / total) : 0;
  const fill = el("span");
  fill.style.width = `${percent}%`;
  return el("div.bar", { role: "progressbar", "aria-valuenow": percent, "aria-valuemin": 0, "aria-valuemax": 100, "aria-label": t("progress") }, fill);
};

// The key is this tab's: no cookie, which every server on this machine would
// be sent, and nothing that stays in the address.
let key = sessionStorage.getItem("key") || "";
async function enter() {
  const code = /^#([0-9a-f]{32})$/.exec(location.hash);
  if (!code) return;
  history.replaceState(null, "", "/");
  const answer = await fetch("/api/key", { method: "POST", body: code[1] });
  if (!answer.ok) throw new Error((await answer.json()).error);
  key = (await answer.json()).key;
  sessionStorage.setItem("key", key);
}
const bearer = () => ({ Authorization: `Bearer ${key}` });

async function get(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json", ...bearer() } });
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error || answer.statusText);
  return answer.json();
}
async function post(path, body) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...bearer() },
    body: JSON.stringify(body || {}),
  });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(told.error || answer.statusText);
  return told;
}
// Another tab has no key: it gets a code that is good once.
async function beside(event) {
  event.preventDefault();
  const path = event.currentTarget.getAttribute("href");
  const tab = window.open("", "_blank");
  try {
    const { code } = await post("/api/code");
    (tab || window).location = `${path}?code=${code}`;
  } catch (error) {
    tab?.close();
    say(error.message);
  }
}
// Server-sent events, with the key, which EventSource can't send.
async function* told(path, signal) {
  const answer = await fetch(path, { headers: { Accept: "text/event-stream", ...bearer() }, signal });
  if (!answer.ok) throw new Error(answer.status === 404 ? "gone" : answer.statusText);
  link("live");
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    let end;
    while ((end = text.indexOf("\n\n")) >= 0) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      if (event.startsWith("data: ")) yield JSON.parse(event.slice(6));
    }
  }
}
function link(state) {
  const node = $("link");
  node.className = `link ${state}`;
  node.textContent = t(`link_${state}`);
}

/* ---- all runs ------------------------------------------------------- */

function overview() {
  const list = el("ul.runs");
  const heading = el("h1", {}, t("runs"));
  put($("main"), heading, list);
  let timer;
  let shown = "";
  async function look() {
    try {
      const found = await get("/api/runs");
      link("live");
      const now = JSON.stringify(found);
      if (now !== shown) {
        shown = now;
        if (found.runs.length) put(list, ...found.runs.map(card));
        else put(list, el("li.empty", {}, t("no_runs")));
      }
    } catch (error) {
      link("lost");
    }
    timer = setTimeout(look, document.hidden ? 10000 : 2000);
  }
  look();
  return () => clearTimeout(timer);
}
function card(run) {
  const usage = run.cost_usd;
  return el("li", {},
    el("a.card", { href: `#/run/${run.id}` },
      el("span", {}, el("span.badge." + run.tone, {}, run.word), el("span.lab", {}, run.updated ? date(Date.parse(run.updated)) : "")),
      el("span.bar-cell", {}, run.total ? bar(run.completed, run.total) : "", el("span.lab", {}, run.job ? `${run.job} · ${run.id}` : run.id)),
      el("span.num", {}, el("span.lab", {}, t("tasks")), run.total ? `${run.completed}/${run.total}` : "–"),
      el("span.num", {}, el("span.lab", {}, t("turns")), String(run.iterations)),
      el("span.num", {}, el("span.lab", {}, t("cost")), usage == null ? "–" : dollars(usage))));
}

/* ---- one run -------------------------------------------------------- */

const ROLE_MARKS = { done: "✓", active: "●", pending: "○", failed: "✗" };
const TABS = ["output", "turns", "events", "checks", "guard", "diff"];

function run(id) {
  const model = { head: {}, turns: new Map(), events: [], output: { lines: [] }, tasks: [] };
  let tab = "output";
  let follow = true;
  let level = "INFO";
  let since = 0;
  const hero = el("section.card.hero", { "aria-label": t("now") });
  const asked = el("div.stack");
  const tasks = el("details.card.tasks", { open: matchMedia("(min-width: 60.01rem)").matches });
  const bars = el("div.tabs", { role: "tablist", "aria-label": t("details") });
  const panel = el("div", { role: "tabpanel", id: "panel", tabindex: "0" });
  const work = el("section.card", { "aria-label": t("details") }, bars, panel);
  const foot = el("footer", {},
    el("a", { href: `/runs/${id}/report.html`, onclick: beside }, t("report")),
    el("a", { href: `/api/runs/${id}`, onclick: beside }, "JSON"));
  const steered = el("section.card.steering", { "aria-label": t("steer") });
  const steeredNow = el("ul.steering");
  put($("main"), el("div.stack", {}, asked, hero, el("div.cols", {}, tasks, work), steered), foot);

  const showTabs = () => put(bars, ...TABS.map((name) => {
    const n = { turns: model.head.calls, checks: model.head.checks?.length, guard: model.head.guard_count, events: model.head.events_count }[name];
    return el("button", {
      role: "tab", id: `tab-${name}`, "aria-selected": String(name === tab), "aria-controls": "panel",
      tabindex: name === tab ? 0 : -1, onclick: () => choose(name),
    }, t(`tab_${name}`), n ? el("span.n", {}, count(n)) : null);
  }));
  function choose(name) {
    tab = name;
    showTabs();
    panel.setAttribute("aria-labelledby", `tab-${name}`);
    put(panel);
    show();
    if (name === "diff") loadDiff();
  }
  bars.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    choose(TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length]);
    $(`tab-${tab}`).focus();
    event.preventDefault();
  });

  async function act(name, body) {
    try {
      const told = await post(`/api/runs/${id}/${name}`, body);
      notice(told.said || t("done"));
    } catch (error) {
      notice(error.message, true);
    }
  }
  function notice(text, bad) {
    const node = $("notice");
    if (node) { node.textContent = text; node.className = bad ? "bad" : "good"; }
    if (text) say(text);
  }

  function showHero() {
    const head = model.head;
    const heading = head.outcome ? head.sentence : head.task ? `${head.task.id} ${head.task.text}` : head.goal;
    const can = head.can || {};
    const buttons = [
      can.pause && el("button", { onclick: () => act("pause") }, t("pause")),
      can.wake && el("button", { onclick: () => act("wake") }, t("wake")),
      can.extend && el("button", { onclick: () => act("extend") }, t("extend")),
      can.resume && el("button.primary", { onclick: () => act("resume") }, t("continue")),
      can.stop && el("button.danger", { onclick: () => act("stop") }, t("stop")),
    ];
    const said = $("notice");
    const keep = said ? [said.textContent, said.className] : ["", ""];
    const used = head.usage || {};
    const facts = [
      [t("elapsed"), time(elapsed()), "elapsed"],
      [t("turn"), head.max_iterations ? `${head.iteration} / ${head.max_iterations}` : String(head.iteration ?? "")],
      [t("tasks"), head.total ? `${head.completed} / ${head.total}` : "–"],
      [t("cost"), dollars(used.cost_usd, used.unpriced_calls || used.partial_calls)],
      [t("tokens"), count(used.tokens)],
      [t("agent"), head.agent || "–"],
      [t("branch"), head.branch || "–"],
    ];
    if (head.waiting) facts.push([t("waits_until"), clock(head.waiting.until_ms)]);
    // Sentences want a line of their own.
    const sentences = [[t("evidence"), head.evidence], [t("forecast"), head.forecast]].filter(([, text]) => text);
    put(hero,
      el("div.hero-row", {}, el("span.badge." + (head.tone || "calm"), {}, head.word || ""), el("span.acts", {}, ...buttons.filter(Boolean))),
      el("h1", {}, heading || id),
      (head.roles || []).length && !head.outcome ? el("ol.roles", { "aria-label": t("roles") }, ...head.roles.map((role) =>
        el(`li.${role.state}`, {}, role.name, el("span.mark", { "aria-hidden": "true" }, ROLE_MARKS[role.state]), el("span.visually-hidden", {}, t(`step_${role.state}`))))) : null,
      el("p.sub", {}, [head.now, head.outcome ? head.goal : null].filter(Boolean).join(" · ")),
      head.total ? bar(head.completed, head.total) : null,
      (head.lanes || []).length ? el("ul.lanes", {}, ...head.lanes.map((lane) => el("li", {}, lane))) : null,
      el("dl.facts", {}, ...facts.map(([name, value, key]) => el("div", {}, el("dt", {}, name), el("dd", key ? { id: key } : {}, value))),
        ...sentences.map(([name, text]) => el("div.wide", {}, el("dt", {}, name), el("dd", {}, text)))),
      el("p", { id: "notice", class: keep[1] }, keep[0]));
    document.title = `${head.word || ""} · ${head.total ? `${head.completed}/${head.total} · ` : ""}Ralph Loop`;
  }
  const elapsed = () => {
    const head = model.head;
    if (head.worked_ms == null) return null;
    return head.worked_ms + (head.goes_on ? Math.max(0, Date.now() - since) : 0);
  };
  const ticking = setInterval(() => { const node = $("elapsed"); if (node) node.textContent = time(elapsed()); }, 1000);

  function showQuestions() {
    const open = (model.head.questions || []).filter((question) => !question.reply);
    const key = JSON.stringify(open);
    // Whoever types must not lose what was typed.
    if (asked.dataset.key === key) return;
    asked.dataset.key = key;
    put(asked, ...open.map((question) => {
      const input = el("input", { "aria-label": t("answer_label"), placeholder: question.default ? t("default_is", question.default) : "", maxlength: 2000 });
      const send = (text) => act("answer", { question: question.id, text });
      return el("section.card.question", { "aria-label": t("question") },
        el("h2", {}, question.task ? t("question_of", question.task.id) : t("question")),
        el("p", {}, question.text),
        question.default ? el("p.calm", {}, t("default_at", question.default, clock(question.deadline_ms))) : null,
        question.options.length ? el("div.acts", {}, ...question.options.map((option) => el("button", { onclick: () => send(option) }, option))) : null,
        el("form", { onsubmit: (event) => { event.preventDefault(); if (input.value.trim()) send(input.value.trim()); } }, input, el("button.primary", {}, t("answer"))));
    }));
    if (open.length) say(t("question"));
  }

  // Made once: whoever types must not lose what was typed.
  function showSteer() {
    const can = (model.head.can || {}).steer;
    if (steered.hidden !== !can) steered.hidden = !can;
    put(steeredNow, ...(model.head.steering || []).map((line) => el("li", {}, line)));
    if (steered.childElementCount) return;
    const input = el("input", { "aria-label": t("steer"), placeholder: t("steer_label"), maxlength: 2000 });
    const send = (event) => {
      event.preventDefault();
      if (!input.value.trim()) return;
      act("steer", { line: input.value.trim() });
      input.value = "";
    };
    put(steered, el("h2", {}, t("steer")), el("p.calm", {}, t("steer_label")), steeredNow,
      el("form", { onsubmit: send }, input, el("button", {}, t("steer"))));
  }

  function showTasks() {
    const head = model.head;
    const groups = new Map();
    for (const task of model.tasks) {
      if (!groups.has(task.phase)) groups.set(task.phase, []);
      groups.get(task.phase).push(task);
    }
    const titles = new Map((head.phases || []).map((phase) => [phase.key, phase.title]));
    const parts = [];
    for (const [phase, list] of groups) {
      const done = list.filter((task) => task.done).length;
      if (phase != null) parts.push(el("h3", {}, el("span", {}, [phase, titles.get(phase)].filter(Boolean).join(" ")), el("span.num", {}, `${done}/${list.length}`)));
      parts.push(el("ul", {}, ...list.map((task) => {
        const asks = !task.done && (head.questions || []).some((question) => !question.reply && question.task && question.task.id === task.id);
        const now = !head.outcome && head.task && head.task.id === task.id && !task.done && !asks;
        const mark = task.done ? "✓" : asks ? "?" : now ? "●" : "○";
        const state = task.done ? t("done") : asks ? t("question") : now ? t("now") : t("open");
        const skipped = (head.skipped || []).includes(task.id);
        const steer = (verb) => el("button", { "aria-label": `${t(verb)} ${task.id}`, onclick: () => act("steer", { line: `${verb} ${task.id}` }) }, t(verb));
        const can = (head.can || {}).steer
          ? el("span.steer", {}, ...(skipped ? [steer("unskip")] : task.done ? [steer("retry")] : [steer("focus"), steer("skip"), steer("retry")]))
          : null;
        return el(`li.${task.done ? "done" : asks ? "asks" : now ? "now" : "open"}`, {}, el("span.mark", { "aria-hidden": "true" }, mark), el("span", {}, el("span.visually-hidden", {}, `${state}: `), `${task.id} ${task.text}`, skipped ? ` (${t("skipped")})` : ""), can);
      })));
    }
    put(tasks, el("summary", {}, t("tasks"), head.total ? ` ${head.completed}/${head.total}` : ""), ...parts, parts.length ? null : el("p.empty", {}, head.goal || t("no_tasks")));
  }

  /* Panels: each is drawn anew but for the output, which grows. */
  function show() {
    if (tab === "output") return showOutput();
    if (tab === "diff") return;
    const kept = panel.querySelector(".scroll")?.scrollTop || 0;
    put(panel, ...{ turns: showTurns, events: showEvents, checks: showChecks, guard: showGuard }[tab]());
    const scroll = panel.querySelector(".scroll");
    if (scroll) scroll.scrollTop = kept;
  }
  const table = (label, heads, rows) => el("div.scroll", { tabindex: "0", role: "region", "aria-label": label },
    el("table", {}, el("thead", {}, el("tr", {}, ...heads.map(([text, n]) => el(n ? "th.n" : "th", { scope: "col" }, text)))), el("tbody", {}, ...rows)));
  function showOutput() {
    let out = $("out");
    if (!out) {
      const box = el("input", { type: "checkbox", id: "follow", checked: follow, onchange: (event) => { follow = event.target.checked; if (follow) out.scrollTop = out.scrollHeight; } });
      out = el("div.out", { id: "out", tabindex: "0", role: "log", "aria-live": "off", "aria-label": t("tab_output") });
      put(panel, el("div.line-top", {}, el("span", { id: "whose" }), el("label", { for: "follow" }, box, ` ${t("follow")}`)), out);
      out.shown = 0;
      out.of = "";
    }
    const output = model.output;
    const of = `${output.turn}.${output.attempt}`;
    if (out.of !== of || out.shown > output.count) { put(out); out.shown = 0; out.of = of; }
    const fresh = Math.min(output.count - out.shown, output.lines.length);
    for (const line of fresh > 0 ? output.lines.slice(-fresh) : []) out.append(el(`div.${line.said}`, {}, line.said === "tool_failed" ? t("verdict_failed") : line.text));
    while (out.childElementCount > 2000) out.firstChild.remove();
    out.shown = output.count || 0;
    if (!out.childElementCount) put(out, el("p.empty", {}, t("no_output")));
    else out.querySelector(".empty")?.remove();
    $("whose").textContent = output.turn ? t("output_of", output.turn, output.agent || "") : "";
    if (follow) out.scrollTop = out.scrollHeight;
  }
  const verdict = (name) => el(`span.v.v-${name}`, {}, t(`verdict_${name}`));
  function showTurns() {
    const turns = [...model.turns.values()];
    if (!turns.length) return [el("p.empty", {}, t("no_turns"))];
    const rows = turns.toReversed().map((turn) => el("tr", {},
      el("td", {}, turn.attempt > 1 ? `${turn.turn}.${turn.attempt}` : String(turn.turn)),
      el("td", {}, turn.task ? turn.task.id : "–"),
      el("td", {}, verdict(turn.verdict)),
      el("td", {}, [turn.agent, turn.role].filter(Boolean).join(" · ")),
      el("td.n", {}, turn.duration_ms == null ? t("verdict_running") : time(turn.duration_ms)),
      el("td.n", {}, turn.duration_ms == null ? "–" : dollars(turn.cost_usd)),
      el("td.n", {}, turn.duration_ms == null ? "–" : count(turn.tokens))));
    return [timeline(turns), bars_of(turns, t("time_per_turn"), (turn) => turn.duration_ms || 0, time, (turn) => turn.verdict),
      turns.some((turn) => turn.cost_usd != null) && bars_of(turns, t("cost_per_turn"), (turn) => turn.cost_usd || 0, dollars, () => ""),
      table(t("turns"), [[t("turn")], [t("task")], [t("verdict")], [t("agent")], [t("time"), 1], [t("cost"), 1], [t("tokens"), 1]], rows)].filter(Boolean);
  }
  const title = (turn) => svg("title", {}, `${t("turn")} ${turn.turn} · ${turn.task ? turn.task.id + " · " : ""}${time(turn.duration_ms)} · ${t("verdict_" + turn.verdict)}`);
  function timeline(turns) {
    const from = turns[0].started_ms;
    const last = turns[turns.length - 1];
    const to = Math.max(last.started_ms + (last.duration_ms ?? Math.max(0, Date.now() - last.started_ms)), from + 1);
    const x = (ms) => ((ms - from) / (to - from)) * 1000;
    const marks = turns.map((turn) => {
      const start = x(turn.started_ms);
      const end = turn.duration_ms == null ? 1000 : x(turn.started_ms + turn.duration_ms);
      return svg("rect", { class: `v-${turn.verdict}`, x: Math.min(start, 998).toFixed(1), y: 4, width: Math.max(end - start, 1.5).toFixed(1), height: 24 }, title(turn));
    });
    return el("figure", {}, el("figcaption", {}, el("span", {}, `${t("when")} · ${date(from)}`), el("span", {}, clock(to))),
      svg("svg", { class: "chart flat", viewBox: "0 0 1000 32", preserveAspectRatio: "none", role: "img", "aria-label": t("when") }, svg("rect", { class: "track", x: 0, y: 2, width: 1000, height: 28, rx: 4 }), ...marks));
  }
  function bars_of(turns, label, value, words, kind) {
    const shown = turns.slice(-240);
    const most = Math.max(...shown.map(value), 0);
    const step = 1000 / Math.max(shown.length, 12);
    const marks = shown.map((turn, i) => {
      const height = most ? Math.max((value(turn) / most) * 80, 1) : 1;
      return svg("rect", { class: kind(turn) ? `v-${kind(turn)}` : "", x: (i * step + step * 0.12).toFixed(1), y: (84 - height).toFixed(1), width: (step * 0.76).toFixed(1), height: height.toFixed(1) }, title(turn));
    });
    return el("figure", {}, el("figcaption", {}, el("span", {}, label), el("span", {}, t("at_most", words(most)))),
      svg("svg", { class: "chart", viewBox: "0 0 1000 86", preserveAspectRatio: "none", role: "img", "aria-label": label }, svg("rect", { class: "track", x: 0, y: 84, width: 1000, height: 2 }), ...marks));
  }
  function showEvents() {
    const order = ["INFO", "WARN", "ERROR"];
    const pick = el("select", { id: "level", "aria-label": t("filter"), onchange: (event) => { level = event.target.value; show(); $("level").focus(); } },
      ...order.map((name) => el("option", { value: name, selected: name === level }, t(`level_${name}`))));
    const wanted = model.events.filter((event) => order.indexOf(event.level) >= order.indexOf(level)).toReversed();
    const rows = wanted.map((event) => el("tr", {}, el("td.num", {}, clock(event.at_ms)), el(`td.lv-${event.level}`, {}, event.event), el("td.text", {}, event.text)));
    return [el("div.line-top", {}, el("span", {}, t("newest_first")), pick), rows.length ? table(t("tab_events"), [[t("time")], [t("event")], [t("text")]], rows) : el("p.empty", {}, t("nothing"))];
  }
  function showChecks() {
    const checks = (model.head.checks || []).toReversed();
    if (!checks.length) return [el("p.empty", {}, model.head.verifies ? t("no_checks_yet") : t("no_checks"))];
    const rows = checks.flatMap((check) => check.checks.map((one, i) => el("tr", {},
      el("td", {}, i ? "" : String(check.turn)), el("td.text", {}, el("code", {}, one.command)),
      el(`td.${one.exit === 0 ? "good" : "bad"}`, {}, one.exit === 0 ? t("passed") : t("failed_with", one.exit ?? "–")), el("td.n", {}, time(one.duration_ms)))));
    return [table(t("tab_checks"), [[t("turn")], [t("command")], [t("result")], [t("time"), 1]], rows)];
  }
  function showGuard() {
    const blocks = (model.head.guard || []).toReversed();
    if (!blocks.length) return [el("p.empty", {}, t("no_blocks"))];
    const rows = blocks.map((block) => el("tr", {}, el("td", {}, String(block.turn)), el("td", {}, block.tool), el("td", {}, el("code", {}, block.rule)), el("td.text", {}, block.detail)));
    return [table(t("tab_guard"), [[t("turn")], [t("tool")], [t("rule")], [t("text")]], rows)];
  }
  let diffTurn = "";
  function diffTop() {
    const numbers = [...new Set([...model.turns.values()].map((turn) => turn.turn))].toSorted((a, b) => b - a);
    const pick = el("select", { "aria-label": t("turn"), onchange: (event) => { diffTurn = event.target.value; loadDiff(); } }, el("option", { value: "" }, t("last_turn")), ...numbers.map((n) => el("option", { value: String(n) }, String(n))));
    pick.value = diffTurn;
    const turn = Number(diffTurn || numbers[0] || 0);
    const undo = model.head.outcome && turn ? el("button.danger", { onclick: () => { if (confirm(t("undo_sure", String(turn)))) act("undo", { turn }); } }, t("undo")) : null;
    const bisect = model.head.outcome && numbers.length > 1 ? el("button", { onclick: () => act("bisect") }, t("bisect")) : null;
    return el("div.line-top", {}, el("span", {}, t("diff_is")), pick, el("button", { onclick: loadDiff }, t("again")), bisect, undo);
  }
  async function loadDiff() {
    put(panel, el("p.empty", {}, "…"));
    try {
      const found = await get(`/api/runs/${id}/diff${diffTurn ? `?turn=${diffTurn}` : ""}`);
      if (tab !== "diff") return;
      const box = el("pre.diff", { tabindex: "0", "aria-label": t("tab_diff") });
      for (const line of found.text ? found.text.split("\n") : []) {
        const kind = line.startsWith("@@") ? "hunk" : line.startsWith("diff ") || line.startsWith("+++") || line.startsWith("---") ? "file" : line[0] === "+" ? "add" : line[0] === "-" ? "del" : "same";
        box.append(el(`div.${kind}`, {}, line || " "));
      }
      const more = found.untracked.length ? el("p.sub", {}, t("new_files", found.untracked.join(", "))) : null;
      put(panel, diffTop(), found.text ? box : el("p.empty", {}, t("no_diff")), more, found.cut ? el("p.warn", {}, t("cut")) : null);
    } catch (error) {
      put(panel, diffTop(), el("p.empty", {}, error.message));
    }
  }

  function take(news) {
    if (news.full) { model.turns.clear(); model.events = []; model.output = { lines: [] }; }
    if (news.head) {
      // What was said about an act is over once the run stands elsewhere.
      if (news.head.word !== model.head.word && model.head.word) notice("");
      model.head = news.head;
      since = Date.now();
    }
    for (const turn of news.turns || []) model.turns.set(`${turn.turn}.${turn.attempt}`, turn);
    if (news.events?.length) {
      model.events.push(...news.events);
      if (model.events.length > 1000) model.events.splice(0, model.events.length - 1000);
      const last = news.events[news.events.length - 1];
      if (!news.full && last.level !== "INFO") say(last.text);
    }
    if (news.tasks) model.tasks = news.tasks;
    if (news.output) {
      const output = news.output;
      const same = output.turn === model.output.turn && output.attempt === model.output.attempt;
      const lines = same ? model.output.lines.concat(output.lines) : output.lines;
      model.output = { ...output, lines: lines.slice(-2000) };
    }
    showHero();
    showQuestions();
    showSteer();
    if (news.tasks || news.head) showTasks();
    showTabs();
    const touched = { output: news.output, turns: news.turns?.length, events: news.events?.length, checks: news.head, guard: news.head }[tab];
    if (touched || news.full) show();
  }

  const left = new AbortController();
  let again;
  async function listen() {
    try {
      for await (const news of told(`/api/runs/${id}/stream`, left.signal)) take(news);
    } catch (error) {
      if (error.message === "gone" && !left.signal.aborted) put($("main"), el("p.hint", {}, t("no_such_run")));
    }
    if (left.signal.aborted) return;
    link("lost");
    again = setTimeout(listen, 2000);
  }
  showTabs();
  choose(tab);
  listen();
  return () => { left.abort(); clearTimeout(again); clearInterval(ticking); };
}

/* ---- where we are --------------------------------------------------- */

function route() {
  leave();
  document.title = "Ralph Loop";
  const found = /^#\/run\/([0-9a-f-]+)$/.exec(location.hash);
  leave = found ? run(found[1]) : overview();
}
async function begin() {
  await enter();
  const page = await get("/api/page");
  texts = page.texts;
  $("project").textContent = page.project;
  window.addEventListener("hashchange", () => { route(); $("main").focus(); });
  if (!location.hash && page.current) location.replace(`#/run/${page.current}`);
  route();
}
begin().catch((error) => { $("main").textContent = error.message; });
