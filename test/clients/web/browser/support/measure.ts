import type { Page, Request } from 'playwright-core';

/** Delays that the user notices. Milliseconds. */

/** From the click (or key) to the frame after all its effects; `done` runs in the page. */
export const waitAfter = async (page: Page, act: () => Promise<unknown>, done: () => boolean): Promise<number> => {
  const began = await page.evaluate(() => performance.now());
  await act();
  await page.waitForFunction(done, undefined, { polling: 'raf' });
  return (await page.evaluate(() => performance.now())) - began;
};

/** Scrolls the element to the end in steps, one per frame. @returns the longest time between two frames */
export const longestFrame = (page: Page, selector: string): Promise<number> =>
  page.evaluate(async (selector) => {
    const element = document.querySelector(selector) ?? document.documentElement;
    const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
    let longest = 0;
    let before = await frame();
    for (let step = 0; step <= 60; step++) {
      element.scrollTop = (element.scrollHeight * step) / 60;
      const now = await frame();
      longest = Math.max(longest, now - before);
      before = now;
    }
    return longest;
  }, selector);

/** Time until the first visible content. */
export const firstPaint = (page: Page): Promise<number> =>
  page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN);

/** A configuration whose apply prints the time, in milliseconds, every 300 ms, 20 times. */
export const speaking = `resource "terraform_data" "clock" {
  provisioner "local-exec" {
    command = "for i in $(seq 20); do echo said $(date +%s%3N); sleep 0.3; done"
  }
}`;

/**
 * Records from now on the time from the output of each such line to the screen. @returns a function that reads the
 * recorded milliseconds
 */
export const noteDelays = async (page: Page): Promise<() => Promise<number[]>> => {
  await page.evaluate(() => {
    const delays: number[] = [];
    Object.assign(window, { delays });
    const visited = new Set<string>();
    new MutationObserver(() => {
      for (const line of document.querySelectorAll('.log .line')) {
        const [, at] = /said (\d{13})$/.exec(line.textContent ?? '') ?? [];
        if (!at || visited.has(at)) continue;
        visited.add(at);
        delays.push(Date.now() - Number(at));
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  return () => page.evaluate(() => (window as unknown as { delays: number[] }).delays);
};

export interface Counted {
  api: number;
  logs: number;
  inFlight: number;
  /** Maximum number of concurrent requests. */
  most: number;
}

/** Counts requests of the API and of logs from now on. */
export const countRequests = (page: Page): Counted => {
  const counted = { api: 0, logs: 0, inFlight: 0, most: 0 };
  const isOurs = (url: string) => url.includes('/api/v2/') || url.includes('/logs/');
  const inFlight = new Set<Request>();
  const note = () => {
    counted.inFlight = inFlight.size;
    counted.most = Math.max(counted.most, inFlight.size);
  };
  page.on('request', (request) => {
    if (!isOurs(request.url())) return;
    counted[request.url().includes('/logs/') ? 'logs' : 'api']++;
    inFlight.add(request);
    note();
  });
  // A request from before is not counted.
  const ended = (request: Request) => {
    inFlight.delete(request);
    note();
  };
  page.on('requestfinished', ended);
  page.on('requestfailed', ended);
  return counted;
};
