// The faults of a page's layout; MIN_TEXT is the size of the smallest legible text in pixels.
(async () => {
  const painted = new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  await Promise.race([painted, new Promise(done => setTimeout(done, 1000))]);  // charts have been fitted to their place
  const root = document.documentElement, problems = [];
  for (const image of document.images) {
    try { await image.decode(); } catch (error) { problems.push(`image is missing: ${image.src.slice(0, 80)}`); }
    if (!image.naturalWidth) problems.push(`image is empty: ${image.src.slice(0, 80)}`);
  }
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.body.querySelectorAll('*')].filter(
      e => e.getBoundingClientRect().right > root.clientWidth + 1 && !e.closest('.scroll, .frame, pre'));
    const names = wide.slice(0, 3).map(e => `${e.tagName}.${e.className}`).join(', ');
    problems.push(`page scrolls sideways: ${root.scrollWidth} > ${root.clientWidth} (${names})`);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const small = new Set();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const holder = node.parentElement;
    if (!node.data.trim() || holder.closest('script, style, title') || !holder.getClientRects().length) continue;
    const frame = holder.closest('.frame');
    if (frame && frame.scrollWidth > frame.clientWidth) continue;
    const scale = holder.getScreenCTM ? Math.hypot(holder.getScreenCTM().a, holder.getScreenCTM().b) : 1;
    const size = parseFloat(getComputedStyle(holder).fontSize) * scale;
    if (size < MIN_TEXT) small.add(`text of ${size.toFixed(1)} px: ${node.data.trim().slice(0, 40)}`);
  }
  problems.push(...[...small].slice(0, 3));
  return {
    problems, width: root.clientWidth, height: root.scrollHeight,
    background: getComputedStyle(document.body).backgroundColor,
    figures: document.querySelectorAll('figure').length,
  };
})()
