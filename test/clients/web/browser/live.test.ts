import { beforeAll, describe, expect, it } from 'vitest';
import { newWorkspace, resources, startRun, untilConfirmable } from '#test/e2e/support/world.ts';
import { countRequests, noteDelays, speaking } from './support/measure.ts';
import { newPage, runPath, seesStatus, signIn, visit } from './support/reader.ts';

/** Changes appear soon, with as few requests as possible. */

describe('an apply', () => {
  it('is shown live, with one request at a time', async () => {
    const workspace = await newWorkspace({ 'auto-apply': true });
    const page = await visit('/');
    const run = await startRun(workspace, { 'main.tf': speaking });
    await page.goto(runPath(workspace.attributes.name, run.id));
    const delays = await noteDelays(page);
    await page.getByLabel('Lines of the apply').getByText('said').first().waitFor();
    const counted = countRequests(page);
    const began = Date.now();
    await seesStatus(page, 'Applied');
    const minutes = (Date.now() - began) / 60_000;
    const noted = (await delays()).sort((a, b) => a - b);
    expect(noted.length).toBeGreaterThanOrEqual(18);
    // The bench has the figure; this limit is for busy machines.
    expect(noted[Math.floor(noted.length / 2)]).toBeLessThan(3_000);
    // Four a second; the requests of an opened part are added once.
    expect(counted.api + counted.logs).toBeLessThan(240 * minutes + 10);
    // A request is sent when the previous one was answered.
    expect(counted.most).toBeLessThanOrEqual(3);
  });
});

describe('the page of a run that waits', () => {
  let path: string;
  beforeAll(async () => {
    const workspace = await newWorkspace();
    const run = await untilConfirmable(await startRun(workspace, { 'main.tf': resources(['a']) }));
    path = runPath(workspace.attributes.name, run.id);
  });

  it('names a full disk of the platform above it', async () => {
    const page = await visit(path);
    await page.getByText('terraform_data.a').first().waitFor();
    const errors = [{ status: '507', title: 'insufficient storage', detail: 'The disk of this platform is full.' }];
    await page.route(/\/api\/v2\/runs\/run-/, (route) => route.fulfill({ status: 507, json: { errors } }));
    await page.getByRole('status').getByText('The disk of this platform is full.').waitFor();
  });

  const open = async () => {
    const page = await newPage();
    await page.clock.install();
    await page.goto(path);
    await signIn(page);
    await page.getByText('terraform_data.a').first().waitFor();
    return page;
  };

  it('polls slowly while hidden and immediately when visible again', async () => {
    const page = await open();
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    // Requests that were scheduled before are still made.
    await page.clock.runFor(5_000);
    const counted = countRequests(page);
    for (let minute = 0; minute < 5; minute++) await page.clock.runFor(60_000);
    expect(counted.api + counted.logs).toBeLessThanOrEqual(5 * 4);
    const next = page.waitForRequest(/include=plan/);
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: false, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await page.clock.runFor(100);
    await next;
  });

  it('makes no requests after the run has ended', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.clock.runFor(5_000);
    await seesStatus(page, 'Discarded');
    const counted = countRequests(page);
    const requests = () => counted.api + counted.logs;
    // Responses take real time, and each may lead to one more request: polling has stopped after several quiet checks.
    let quiet = 0;
    await expect
      .poll(
        async () => {
          const before = requests();
          await page.clock.runFor(20_000);
          quiet = counted.inFlight + requests() === before ? quiet + 1 : 0;
          return quiet;
        },
        { interval: 300 },
      )
      .toBeGreaterThanOrEqual(5);
    const before = requests();
    for (let minute = 0; minute < 5; minute++) await page.clock.runFor(60_000);
    expect(requests() - before).toBe(0);
  });
});
