import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Client } from '#runner/program/client.ts';
import { Control } from '#runner/program/control.ts';
import { StateKeeper } from '#runner/program/state.ts';
import { ControlPlane } from './control-plane.ts';
import { jobFor } from './support.ts';
import { until } from './until.ts';

/** Snapshots of a large state contain only changes. */

let directory: string;
let file: string;
let plane: ControlPlane;
let keeper: StateKeeper;

const state = (serial: number, count: number): string => {
  const instances = Array.from({ length: count }, (_, n) => ({ index_key: n, attributes: { id: `${n}`.repeat(200) } }));
  return JSON.stringify({ version: 4, serial, lineage: 'l', outputs: {}, resources: [{ instances }] }, undefined, 2);
};
const wholes = () => plane.states.map(({ serial, intermediate }) => `${serial}${intermediate ? ' intermediate' : ''}`);
const has = (text: string) => () => plane.newest?.toString() === text;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'state-test-'));
  mkdirSync(join(directory, 'state'));
  file = join(directory, 'state', 'terraform.tfstate');
  plane = await ControlPlane.start();
  const job = jobFor(plane, Buffer.alloc(0), { phase: 'apply' });
  plane.offer(job);
  const { runId, token } = job;
  const control = new Control();
  const client = new Client(plane.url, token, control.over, () => control.end());
  const refuge = { address: { url: null }, runId, key: null, file: join(directory, 'kept'), freeDisk: () => {} };
  keeper = new StateKeeper(file, client, control, refuge);
});
afterEach(async () => {
  await plane.stop();
  rmSync(directory, { recursive: true, force: true });
  expect(plane.violations).toEqual([]);
});

it('an apply stores the first and last state completely, and changes in between', async () => {
  await keeper.watch();
  writeFileSync(file, state(1, 100));
  await until('a whole snapshot', () => plane.current());
  for (const n of [2, 3]) {
    writeFileSync(file, state(n, 100 + n));
    await until(`snapshot ${n}`, has(state(n, 100 + n)));
  }
  expect(wholes()).toEqual(['1 intermediate']);
  expect(await keeper.finish()).toEqual({ stateVersionId: 'sv-2', problem: undefined });
  expect(wholes()).toEqual(['1 intermediate', '3']);
  expect(plane.current()?.content?.toString()).toBe(state(3, 103));
});

it('an apply starts from the workspace’s state', async () => {
  writeFileSync(file, state(7, 100));
  plane.states.push({
    ...{ id: 'sv-0', serial: 7, lineage: 'l', md5: '', size: 1, intermediate: false, completed: true },
    content: Buffer.from(state(7, 100)),
  });
  await keeper.watch();
  writeFileSync(file, state(8, 101));
  await until('a snapshot', has(state(8, 101)));
  // Unchanged: Terraform keeps the serial of the start.
  writeFileSync(file, state(7, 100));
  await until('another', has(state(9, 100)));
  expect(await keeper.finish()).toMatchObject({ stateVersionId: 'sv-2' });
  expect(plane.current()).toMatchObject({ serial: 9, intermediate: false });
});

it('an apply stores a state completely if it has grown to several times the last one', async () => {
  await keeper.watch();
  writeFileSync(file, state(1, 100));
  await until('a whole snapshot', () => plane.current());
  writeFileSync(file, state(2, 250));
  await until('what has changed', has(state(2, 250)));
  writeFileSync(file, state(4, 251));
  await until('a second whole snapshot', () => plane.states.at(-1)?.completed && plane.states.length === 2);
  expect(wholes()).toEqual(['1 intermediate', '4 intermediate']);
  await keeper.finish();
});

it.each([
  ['does not know changes', () => Object.assign(plane, { takesChanges: false }), 404],
  ['has another state', () => plane.states.push({ ...plane.states[0], content: Buffer.from('{}') } as never), 409],
])('an apply stores complete states if the control plane %s', async (_, change, status) => {
  await keeper.watch();
  writeFileSync(file, state(1, 100));
  await until('a whole snapshot', () => plane.current());
  change();
  writeFileSync(file, state(2, 101));
  await until('a second whole snapshot', () => plane.states.some(({ serial, completed }) => serial === 2 && completed));
  writeFileSync(file, state(3, 102));
  await until('a third', () => plane.states.some(({ serial, completed }) => serial === 3 && completed));
  expect(plane.calls.filter((call) => call.endsWith('/state-changes'))).toHaveLength(1);
  expect(plane.violations.splice(0)).toEqual([expect.stringContaining(String(status))]);
  await keeper.finish();
});

it('an apply repeats changes without a response, from the control plane’s last state', async () => {
  await keeper.watch();
  writeFileSync(file, state(1, 100));
  await until('a whole snapshot', () => plane.current());
  let lost = 0;
  plane.fault = (path) => (path.endsWith('/state-changes') && lost++ === 0 ? 'lose-answer' : undefined);
  writeFileSync(file, state(2, 101));
  await until('its repeat', () => lost > 1);
  writeFileSync(file, state(3, 102));
  await until('the next', has(state(3, 102)));
  await keeper.finish();
});
