// The labelling page: shows one clip after another, and sends every answer before it goes on.

const $ = (id) => document.getElementById(id);
const SPEEDS = [0.25, 0.5, 1, 2];
const REST_MS = 700; // how long a loop rests on its last frame, by which most outcomes are read
const LETTERS = "abcdefghijklmopqrtvwy"; // without n, s, u, x and z, which are commands
const NULLS = { unreadable: ["u", "Why can it not be read?", "No particular reason"], out_of_schema: ["x", "What is it then?", "Something else"] };

const players = [...document.querySelectorAll("video")];
const calm = matchMedia("(prefers-reduced-motion: reduce)");
let sheet; // what the server told once
let task; // the clip on the screen
let shown = 0; // number of the player on the screen
let busy = true; // an answer is on its way, or the next clip is not there yet
let ready = false; // the clip on the screen has been seen
let playing = true;
let speed = 1;
let rulesOf = null; // the null whose rules are shown
let choices = new Map(); // key -> what it does, for the buttons on the screen
let ahead = new Map(); // place -> the promise of its task
let noteSaved = Promise.resolve();
let rest = 0;

function setBusy(on) {
  busy = on;
  document.body.classList.toggle("busy", on);
}

// -- the server --------------------------------------------------------------------------------------------------

async function ask(path, body) {
  const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(path, body === undefined ? {} : post);
  } catch {
    throw new Error("worldodds does not answer. Start it again in its terminal; all that was saved is kept.");
  }
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.message);
  return told;
}

const taskAt = (at) => ahead.get(at) ?? ask(`task/${at}`);

// -- clips -------------------------------------------------------------------------------------------------------

const player = () => players[shown];
const rate = () => (task.seconds > 0 ? task.frames / task.seconds : 1);
const frameNow = () => Math.min(task.frames - 1, Math.floor(player().currentTime * rate() + 1e-3));

function load(video, at, copy = false) {
  video.dataset.at = at;
  video.dataset.copy = copy ? "yes" : "";
  video.src = `${copy ? "copy" : "clip"}/${at}`;
  video.load();
}

function begin() {
  ready = true;
  setBusy(false);
  document.body.classList.remove("loading");
  player().playbackRate = speed;
  player().currentTime = 0;
  setPlaying(true);
}

function setPlaying(on) {
  playing = on;
  clearTimeout(rest);
  $("play").classList.toggle("paused", !on);
  $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  if (!on) return player().pause();
  if (player().ended) player().currentTime = 0;
  player().play().catch(() => {}); // a clip that is left behind while it starts
}

function seekFrame(frame) {
  setPlaying(false);
  const wanted = Math.max(0, Math.min(task.frames - 1, frame));
  player().currentTime = Math.min((wanted + 0.5) / rate(), Math.max(task.seconds - 1e-3, 0));
}

function setSpeed(value) {
  speed = value;
  for (const video of players) video.defaultPlaybackRate = video.playbackRate = speed;
  for (const button of $("speeds").children) button.setAttribute("aria-pressed", Number(button.dataset.speed) === speed);
}

function tick() {
  if (task && ready) {
    const frame = frameNow();
    if ($("scrub").value !== String(frame)) $("scrub").value = frame;
    const text = `${frame + 1} / ${task.frames}`;
    if ($("frame").value !== text) $("frame").value = text;
  }
  requestAnimationFrame(tick);
}

for (const video of players) {
  video.addEventListener("loadeddata", () => {
    if (task && video === player() && !ready && video.dataset.at === String(task.at)) begin();
  });
  video.addEventListener("ended", () => {
    if (video !== player() || !playing) return;
    if (calm.matches) return setPlaying(false);
    clearTimeout(rest);
    rest = setTimeout(() => playing && setPlaying(true), REST_MS);
  });
  video.addEventListener("error", () => {
    if (!video.dataset.at) return;
    if (!video.dataset.copy) load(video, Number(video.dataset.at), true); // it may play as H.264
    else if (task && video === player()) fault("This clip cannot be played here, not even as a copy. Skip it.");
  });
}

// -- going from clip to clip -------------------------------------------------------------------------------------

async function show(at, words) {
  setBusy(true);
  ready = false;
  clearTimeout(rest);
  document.body.classList.add("loading");
  const before = task?.scene;
  try {
    task = await taskAt(at);
  } catch (error) {
    setBusy(false);
    return say(error.message, true);
  }
  ahead.clear();
  $("end").hidden = true;
  $("work").hidden = false;
  const fresh = before !== undefined && before !== task.scene;
  document.body.classList.toggle("fresh", fresh);
  draw();
  if (words) say(fresh ? `${words} A new scene begins.` : words);
  bringUp(at);
  if (task.next !== null && task.next !== at) lookAhead(task.next);
}

function bringUp(at) {
  player().pause();
  if (players[1 - shown].dataset.at === String(at)) shown = 1 - shown;
  players.forEach((video, i) => video.classList.toggle("on", i === shown));
  if (task.fault) return fault(task.fault);
  $("fault").hidden = true;
  if (player().dataset.at !== String(at) || player().error) load(player(), at);
  if (player().readyState >= 2) begin();
}

function lookAhead(at) {
  ahead.set(at, ask(`task/${at}`));
  ahead.get(at).catch(() => ahead.delete(at));
  if (players[1 - shown].dataset.at !== String(at)) load(players[1 - shown], at);
}

function fault(words) {
  setBusy(false);
  document.body.classList.remove("loading");
  player().classList.remove("on");
  $("fault").textContent = words;
  $("fault").hidden = false;
}

function skip() {
  if (busy) return;
  if (task.next === null) return end();
  if (task.next === task.at) return say("This is the only clip without an answer.");
  show(task.next, "Skipped; it comes again at the end.");
}

function walk(step) {
  const at = task.at + step;
  if (!busy && at >= 0 && at < sheet.total) show(at, " ");
}

// -- answers -----------------------------------------------------------------------------------------------------

async function answer(status, label = null, reason = null) {
  if (busy || !ready) return;
  setBusy(true);
  await noteSaved;
  const at = task.at;
  try {
    const told = await ask("answer", { at, status, label, reason, note: $("note").value });
    progress(told.progress);
    const words = `Saved: ${label ?? [plain(status), reason && plain(reason)].filter(Boolean).join(", ")}.`;
    const looking = told.next === null && task.answer.status !== "missing" && at + 1 < sheet.total; // through finished ones
    if (looking) await show(at + 1, words);
    else if (told.next === null) end();
    else await show(told.next, words);
  } catch (error) {
    setBusy(false);
    say(error.message, true);
  }
}

function saveNote() {
  const { at, answer: kept } = task;
  task.note = $("note").value;
  noteSaved = ask("answer", { at, ...kept, note: task.note })
    .then(() => say("Note saved."))
    .catch((error) => say(error.message, true));
}

async function undo() {
  if (busy) return;
  setBusy(true);
  try {
    const told = await ask("undo", {});
    progress(told.progress);
    ahead.clear();
    if (told.at === null) { setBusy(false); return say("There is nothing to undo."); }
    await show(told.at, "Undone: answer this clip again.");
  } catch (error) {
    setBusy(false);
    say(error.message, true);
  }
}

// -- what is on the page -----------------------------------------------------------------------------------------

const plain = (name) => name.replaceAll("_", " ");

function say(words, wrong = false) {
  $("said").textContent = words;
  $("said").classList.toggle("wrong", wrong);
}

function keysFor(labels) {
  const digits = labels.some((label) => /^[0-9]$/.test(label)); // a label that is a digit is its own key
  const free = [...(digits ? "" : "123456789"), ...LETTERS];
  return labels.map((label) => (/^[0-9]$/.test(label) ? label : free.shift() ?? ""));
}

function choice(key, words, small, act, pressed) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "choice";
  button.append(Object.assign(document.createElement("kbd"), { textContent: key.toUpperCase(), hidden: !key }));
  const span = button.appendChild(Object.assign(document.createElement("span"), { textContent: words }));
  if (small) span.append(Object.assign(document.createElement("small"), { textContent: small }));
  if (pressed !== undefined) button.setAttribute("aria-pressed", pressed);
  if (key) { button.setAttribute("aria-keyshortcuts", key); choices.set(key, act); }
  button.addEventListener("click", act);
  return button;
}

function draw() {
  const scene = sheet.scenes[task.scene];
  rulesOf = null;
  $("rules").hidden = true;
  $("answers").hidden = false;
  $("scene").textContent = scene.title;
  const before = sheet.progress.slice(0, task.scene).reduce((sum, [, total]) => sum + total, 0);
  $("within").textContent = `clip ${task.at - before + 1} of ${sheet.progress[task.scene][1]}`;
  $("question").textContent = scene.question;
  $("evidence").textContent = `Judge by the ${scene.evidence}.`;
  $("scrub").max = Math.max(task.frames - 1, 0);
  $("note").value = task.note;
  choices = new Map();
  const keys = keysFor(scene.labels);
  const short = Math.max(...scene.labels.map((label) => label.length)) <= 3;
  const many = scene.labels.length > 6 && short ? "grid" : scene.labels.length > 5 ? "tight" : "";
  const own = keys.every((key, i) => key === scene.labels[i]) ? "own-keys" : "";
  $("outcomes").className = `choices ${many} ${own}`;
  $("outcomes").replaceChildren(...scene.labels.map((label, i) =>
    choice(keys[i], label, "", () => answer("outcome", label), task.answer.label === label)));
  for (const kind of Object.keys(NULLS)) $(kind).setAttribute("aria-pressed", task.answer.status === kind);
}

function rules(kind) {
  if (busy || !ready) return;
  const [key, title, none] = NULLS[kind];
  const listed = sheet.scenes[task.scene].nulls.filter((rule) => rule.kind === kind);
  if (!listed.length) return answer(kind);
  rulesOf = kind;
  choices = new Map();
  $("rules-title").textContent = title;
  const keys = keysFor(listed.map((rule) => rule.name));
  $("rules-list").replaceChildren(
    ...listed.map((rule, i) => choice(keys[i], plain(rule.name), rule.rule, () => answer(kind, null, rule.name), task.answer.reason === rule.name)),
    choice(key, none, "", () => answer(kind)),
  );
  $("answers").hidden = true;
  $("rules").hidden = false;
  $("rules").scrollTop = 0;
}

function closeRules() {
  if (rulesOf) draw();
}

function progress(told) {
  sheet.progress = told;
  const done = told.reduce((sum, [n]) => sum + n, 0);
  $("bar").max = sheet.total;
  $("bar").value = done;
  $("count").textContent = `${done} of ${sheet.total}`;
}

function end() {
  setBusy(false);
  ready = false;
  for (const video of players) video.pause();
  $("work").hidden = true;
  $("end").hidden = false;
  document.body.classList.remove("loading");
  $("end-title").textContent = `All ${sheet.total} clips are labelled. Thank you.`;
  $("end-lead").textContent = "Everything is saved in the run. “Finish” stops worldodds in its terminal, which then says how to score these labels.";
  $("end-scenes").replaceChildren(...sheet.scenes.map((scene, i) => {
    const row = document.createElement("tr");
    const name = Object.assign(document.createElement("th"), { scope: "row", textContent: scene.title });
    row.append(name, Object.assign(document.createElement("td"), { textContent: sheet.progress[i].join(" of ") }));
    return row;
  }));
  $("end-title").focus();
}

async function finish() {
  try {
    await ask("finish", {});
    $("end-lead").textContent = "worldodds has stopped. You may close this page.";
    $("end").querySelector(".walk").hidden = true;
  } catch (error) {
    $("end-lead").textContent = error.message;
  }
}

// -- keys and clicks ---------------------------------------------------------------------------------------------

const COMMANDS = {
  " ": () => setPlaying(!playing),
  ArrowLeft: () => seekFrame(frameNow() - 1),
  ArrowRight: () => seekFrame(frameNow() + 1),
  Home: () => seekFrame(0),
  End: () => seekFrame(task.frames - 1),
  ArrowUp: () => setSpeed(SPEEDS[Math.min(SPEEDS.indexOf(speed) + 1, SPEEDS.length - 1)]),
  ArrowDown: () => setSpeed(SPEEDS[Math.max(SPEEDS.indexOf(speed) - 1, 0)]),
  PageUp: () => walk(-1),
  PageDown: () => walk(1),
  Escape: closeRules,
  u: () => rules("unreadable"),
  x: () => rules("out_of_schema"),
  s: skip,
  n: () => $("note").focus(),
};
const REPEATABLE = new Set(["ArrowLeft", "ArrowRight"]); // a key held down answers once, but steps on

document.addEventListener("keydown", (event) => {
  if (!task && $("end").hidden) return;
  if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
  const { key: raw, target } = event;
  const key = raw.length === 1 ? raw.toLowerCase() : raw;
  if (target.id === "note") {
    if (key === "Enter" || key === "Escape") target.blur();
    return;
  }
  if (target.matches("input") && /^(Arrow|Home|End|Page| $)/.test(key)) return;
  if (target.matches("button") && (key === "Enter" || key === " ")) {
    if (event.repeat) event.preventDefault();
    return;
  }
  const undoes = key === "z" || key === "Backspace";
  const act = key === "?" ? openKeys : undoes ? undo : $("work").hidden ? null : choices.get(key) ?? COMMANDS[key];
  if (!act) return;
  event.preventDefault();
  if (!event.repeat || REPEATABLE.has(key)) act();
});

function openKeys() {
  $("keys").showModal();
}

// A click by hand leaves no focus behind, so that Space goes on playing; a click by keyboard does.
document.addEventListener("click", (event) => {
  if (event.detail > 0) event.target.closest("button")?.blur();
});

const CLICKS = {
  help: openKeys, unreadable: COMMANDS.u, out_of_schema: COMMANDS.x, "rules-back": closeRules, undo, skip,
  before: COMMANDS.PageUp, back: COMMANDS.ArrowLeft, forward: COMMANDS.ArrowRight, play: COMMANDS[" "],
  last: COMMANDS.End, screen: COMMANDS[" "], finish, again: () => show(0, " "), "end-undo": undo,
};
for (const [id, act] of Object.entries(CLICKS)) $(id).addEventListener("click", act);
$("scrub").addEventListener("input", () => seekFrame(Number($("scrub").value)));
$("note").addEventListener("change", () => { if (!busy && $("note").value !== task.note) saveNote(); });
for (const value of SPEEDS) {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.speed = value;
  button.textContent = { 0.25: "¼×", 0.5: "½×" }[value] ?? `${value}×`;
  button.setAttribute("aria-label", `Speed ${value}`);
  button.addEventListener("click", () => setSpeed(value));
  $("speeds").append(button);
}

// -- begin -------------------------------------------------------------------------------------------------------

try {
  sheet = await ask("sheet");
  $("annotator").textContent = sheet.annotator;
  setSpeed(1);
  progress(sheet.progress);
  if (sheet.start === null) end();
  else await show(sheet.start, sheet.progress.some(([done]) => done) ? "Welcome back: here you left off." : matchMedia("(pointer: fine)").matches ? "Press ? for the keys." : " ");
  tick();
} catch (error) {
  $("work").hidden = false;
  say(error.message, true);
}
