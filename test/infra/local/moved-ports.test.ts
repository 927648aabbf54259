import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Folder } from '#infra/local/host/folder.ts';
import { keepPorts, keptPorts, movedPorts, type Ports } from '#infra/local/host/moved-ports.ts';
import { temporaryFolder } from './support/functions.ts';

const at = (http: number, https: number, aws: number): Ports => ({ http, https, environments: 9, aws });

it('unchanged ports are not recorded as moved', () => {
  expect(movedPorts(undefined, at(1, 2, 3))).toEqual({});
  expect(movedPorts({ now: at(1, 2, 3), moved: {} }, at(1, 2, 3))).toEqual({});
});

it('every former port maps to the latest one', () => {
  const moved = movedPorts({ now: at(1, 2, 3), moved: {} }, at(11, 2, 13));
  expect(moved).toEqual({ 1: 11, 3: 13 });
  expect(movedPorts({ now: at(11, 2, 13), moved }, at(21, 22, 13))).toEqual({ 1: 21, 2: 22, 3: 13, 11: 21 });
});

it('a port that is in use again is not mapped', () => {
  expect(movedPorts({ now: at(11, 2, 3), moved: { 1: 11 } }, at(1, 2, 3))).toEqual({ 11: 1 });
});

it('the ports are stored in a separate file, and the error for a damaged file names it', () => {
  const folder = new Folder(temporaryFolder());
  keepPorts(folder, undefined, at(1, 2, 3));
  keepPorts(folder, keptPorts(folder), at(11, 2, 3));
  expect(keptPorts(folder)).toEqual({ now: at(11, 2, 3), moved: { 1: 11 } });
  writeFileSync(folder.at('ports.json'), '');
  expect(() => keptPorts(folder)).toThrow(/ports\.json cannot be read: .*Delete it/);
});
