import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

/** Violations of axe's rules for WCAG 2.2 AA, in light and dark, on a wide and a narrow screen. */

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  nodes: { target: string[]; failureSummary: string }[];
}

const violations = async (page: Page): Promise<string[]> => {
  const violations = await page.evaluate(async () => {
    const { axe: run } = window as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
    // Details of passed rules are unused, and take as long.
    const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    return (await run.run({ runOnly, resultTypes: ['violations'] })).violations;
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`),
  );
};

/** The last one is that of new pages. */
const looks = [
  { colorScheme: 'dark', width: 390, height: 844 },
  { colorScheme: 'light', width: 1280, height: 900 },
] as const;

/**
 * Violations in the open view, by appearance: users can turn the screen and change the colors at any time.
 * @param onlyDark whether the rules are checked dark and narrow only: all views have the same parts
 */
export const wrongWith = async (page: Page, name: string, onlyDark = false): Promise<string[]> => {
  const wrong: string[] = [];
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  for (const { colorScheme, width, height } of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    // Axe takes a control that is scrolled halfway below the sticky header for obscured.
    await page.evaluate(() => scrollTo(0, 0));
    const look = `${name}, ${colorScheme} at ${width} pixels`;
    if (colorScheme === 'dark' || !onlyDark)
      wrong.push(...(await violations(page)).map((violation) => `${look}: ${violation}`));
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (over > 0) wrong.push(`${look}: ${over} pixels wider than the screen`);
  }
  return wrong;
};
