// What was typed into a form outlives the choice of another team, which loads the page anew.

const KEY = "typed";
const KINDS = ["hidden", "password", "file", "submit", "button"];

/**
 * Return what was typed or chosen in a form's elements, by name; what was left as it came is left out, unless
 * `everything` is asked for: a form that was refused came with what was typed before.
 */
export function typedIn(elements, everything = false) {
  const values = [];
  for (const element of elements) {
    if (!element.name || KINDS.includes(element.type)) continue;
    if (element.type === "checkbox" || element.type === "radio") {
      if (everything || element.checked !== element.defaultChecked) values.push([element.name, element.value, element.checked]);
    } else if (element.options) {
      const chosen = [...element.options].filter((option) => option.selected);
      if (everything || [...element.options].some((option) => option.selected !== option.defaultSelected)) {
        values.push([element.name, chosen.map((option) => option.value), true]);
      }
    } else if (everything || element.value !== element.defaultValue) values.push([element.name, element.value, true]);
  }
  return values;
}

/** Put back what `typedIn` returned; a choice that the form no longer offers is left as it came. */
export function fillIn(elements, values) {
  const filled = [];
  for (const [name, value, state] of values) {
    const named = [...elements].filter((element) => element.name === name);
    for (const element of named) {
      if (element.type === "checkbox" || element.type === "radio") {
        if (element.value !== value) continue;
        element.checked = state;
      } else if (element.options) {
        const offered = [...element.options].filter((option) => value.includes(option.value));
        if (!offered.length) continue;
        for (const option of element.options) option.selected = offered.includes(option);
      } else element.value = value;
      filled.push(element);
    }
  }
  return filled;
}

function mainForm() {
  return document.querySelector("main form[method=post]");
}

function keepTyped() {
  const form = mainForm();
  if (!form) return;
  const values = typedIn(form.elements, form.querySelector(".is-invalid") !== null);
  sessionStorage.setItem(KEY, JSON.stringify({ path: location.pathname, values }));
}

function putBack() {
  const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  sessionStorage.removeItem(KEY);
  const form = mainForm();
  if (!form || kept?.path !== location.pathname) return;
  for (const element of fillIn(form.elements, kept.values)) {
    element.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

if (typeof document !== "undefined" && document.querySelector("form.team-choice")) {
  document.querySelector("form.team-choice").addEventListener("submit", keepTyped);
  putBack();
}
