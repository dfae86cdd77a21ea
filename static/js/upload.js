// Forms that send large files: how far the sending is, what came of it, and what to do if it breaks off.

import { announce } from "./app.js";

/** Show how much was sent; a file that was sent whole is only then looked at by the service. */
function showProgress(form, share) {
  const line = form.querySelector("[data-upload-progress]");
  const percent = Math.floor(100 * share);
  line.hidden = false;
  line.querySelector("progress").value = percent;
  line.querySelector("[data-upload-percent]").textContent = `${percent} %`;
  line.querySelector("[data-upload-taken]").hidden = share < 1;
}

function hideProgress(form) {
  form.querySelector("[data-upload-progress]").hidden = true;
  for (const button of form.querySelectorAll("button")) button.disabled = false;
}

/** Take the page that came back, which has the form with what is wrong in it. */
function showAnswer(page) {
  const main = page?.querySelector("main");
  if (!main) return false;
  document.querySelector("main").replaceWith(document.adoptNode(main));
  document.title = page.title;
  (main.querySelector(".is-invalid") ?? main).focus();
  return true;
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-upload]");
  if (!form) return;
  event.preventDefault();
  const request = new XMLHttpRequest();
  const words = document.body.dataset;
  // Without the part behind "#", which an answer's address never has.
  const address = new URL(form.getAttribute("action") ?? "", location.href).href;
  request.upload.addEventListener("progress", ({ loaded, total }) => showProgress(form, total ? loaded / total : 0));
  request.addEventListener("load", () => {
    if (request.responseURL && request.responseURL !== address) location.assign(request.responseURL);
    else if (!showAnswer(request.responseXML)) {
      hideProgress(form);
      announce(words.textError, "danger");
    }
  });
  // A browser calls it an error or an abort, depending on who broke the line.
  for (const end of ["error", "abort"]) {
    request.addEventListener(end, () => {
      hideProgress(form);
      announce(words.textOffline, "warning");
    });
  }
  request.open("POST", address);
  request.responseType = "document";
  request.send(new FormData(form));
  showProgress(form, 0);
  for (const button of form.querySelectorAll("button")) button.disabled = true;
});
