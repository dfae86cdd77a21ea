// Narrows a list of choices to those that hold the words typed; Enter takes the first that is left.

const box = document.querySelector("[data-filter]");
const list = document.querySelector(box.dataset.filter);
const groups = [...list.querySelectorAll("[data-group]")];
const none = list.querySelector("[data-none]");

function shown(item) {
  return !item.hidden;
}

box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const group of groups) {
    const items = [...group.querySelectorAll("[data-choice]")];
    for (const item of items) {
      const text = item.textContent.toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
    }
    group.hidden = !items.some(shown);
  }
  none.hidden = groups.some(shown);
});

box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  [...list.querySelectorAll("[data-choice]")].find((item) => shown(item) && shown(item.closest("[data-group]")))
    ?.querySelector("a").click();
});
