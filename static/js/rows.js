// Tables of a form that grow: a click copies the empty row and counts it in the form's total.

for (const table of document.querySelectorAll("[data-rows]")) {
  const total = table.querySelector(`input[name="${table.dataset.rows}-TOTAL_FORMS"]`);
  const template = table.querySelector("template");
  const button = table.querySelector("[data-add-row]");
  button.addEventListener("click", () => {
    const holder = document.createElement("template");
    holder.innerHTML = template.innerHTML.replaceAll("__prefix__", total.value);
    const row = holder.content.firstElementChild;
    total.value = Number(total.value) + 1;
    button.before(row);
    row.querySelector("input").focus();
  });
}
