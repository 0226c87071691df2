// A button on each code block that copies what can be run: no prompts, and no output where there are prompts.

/** Return the commands of a session in a shell or in Python, or the whole text if it is not a session. */
function commandsOf(text) {
  const lines = text.replace(/\n+$/, "").split("\n");
  const prompt = lines.find((line) => line.trim())?.match(/^(\$|>>>) /)?.[1];
  if (!prompt) return lines.join("\n");
  const kept = [];
  let goesOn = false;
  for (const line of lines) {
    if (line.startsWith(`${prompt} `)) kept.push(line.slice(prompt.length + 1));
    else if (prompt === ">>>" && /^\.\.\.( |$)/.test(line)) kept.push(line.slice(4));
    else if (goesOn) kept.push(line);
    else continue;
    goesOn = prompt === "$" && line.endsWith("\\");
  }
  return kept.join("\n");
}

/** Put text on the clipboard, also where the browser keeps its newer interface from a page; return whether it is there. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.body.appendChild(document.createElement("textarea"));
    area.value = text;
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

for (const block of document.querySelectorAll("div.highlight")) {
  if (block.closest(".sphx-glr-script-out")) continue; // output alone
  const text = block.querySelector("pre").textContent;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    button.textContent = (await copyText(commandsOf(text))) ? "Copied" : "Not copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  block.append(button);
}
