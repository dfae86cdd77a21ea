// Offers the time zone of the device, which the server cannot know.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

for (const button of document.querySelectorAll("[data-device-timezone]")) {
  const input = document.querySelector(button.dataset.deviceTimezone);
  if (!zone || input.value === zone) continue;
  button.textContent = `${button.dataset.label} ${zone}`;
  button.classList.remove("d-none");
  button.addEventListener("click", () => {
    input.value = zone;
    button.classList.add("d-none");
    input.focus();
  });
}
